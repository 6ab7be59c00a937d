// Elementary functions of vectors, within two units in the last place.
//
// Series with closed-form coefficients, as long as the type needs. Overflow and NaN come out as
// mathematics has them.
#pragma once

#include "simd.hpp"

namespace torchalu::TORCHALU_ISA {

// The whole number nearest to x, for |x| < 2^22 (float) or 2^51 (double).
template <class T> TORCHALU_DEVICE inline vec<T> nearest(vec<T> x) {
  return (x + format<T>::magic) - format<T>::magic;
}
// 2^n for a whole number n within the normal exponents.
template <class T> TORCHALU_DEVICE inline vec<T> power_of_two(vec<T> n) {
  const bits<T> k = to_bits<T>(n + format<T>::magic) - format<T>::magic_bits;
  return from_bits<T>((k + format<T>::bias) << format<T>::mantissa);
}
template <class T> TORCHALU_DEVICE inline vec<T> to_float(bits<T> k) {
  if constexpr (sizeof(T) == 4) return converted<T>(k);
  else return from_bits<T>(k + format<T>::magic_bits) - format<T>::magic;
}

template <int N> struct reciprocal_factorial {
  static constexpr double value = reciprocal_factorial<N - 1>::value / N;
};
template <> struct reciprocal_factorial<0> {
  static constexpr double value = 1.0;
};

// sum of r^n / n! for n = N .. Last, divided by r^N.
template <class T, int N, int Last> TORCHALU_DEVICE inline vec<T> exp_series(vec<T> r) {
  if constexpr (N == Last) {
    return broadcast(T(reciprocal_factorial<N>::value));
  } else {
    return exp_series<T, N + 1, Last>(r) * r + T(reciprocal_factorial<N>::value);
  }
}

// x 2^n for a whole number n up to twice the normal exponents, rounded once.
template <class T> TORCHALU_DEVICE inline vec<T> scaled(vec<T> x, vec<T> n) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) return vec<T>(_mm512_scalef_ps(x, n));
  else return vec<T>(_mm512_scalef_pd(x, n));
#else
  const vec<T> half = nearest<T>(n * T(0.5));
  return x * power_of_two<T>(half) * power_of_two<T>(n - half);
#endif
}

// e^x: e^r 2^n with |r| <= ln(2)/2. The bounds of x are where it is infinite and 0 already; they
// stand first, as a comparison with NaN gives the second.
template <class T> TORCHALU_DEVICE inline vec<T> exp(vec<T> x) {
  using F = format<T>;
  const vec<T> y = minimum<T>(broadcast(F::exp_high), maximum<T>(broadcast(F::exp_low), x));
  const vec<T> n = nearest<T>(y * T(1.4426950408889634));
  vec<T> r = y - n * F::ln2_high;
  r = r - n * F::ln2_low;
  return scaled<T>(exp_series<T, 0, F::exp_terms>(r), n);
}

// sum of z^(n-N) / (2n + 1) for n = N .. Last.
template <class T, int N, int Last> TORCHALU_DEVICE inline vec<T> atanh_series(vec<T> z) {
  if constexpr (N == Last) {
    return broadcast(T(1.0 / (2 * N + 1)));
  } else {
    return atanh_series<T, N + 1, Last>(z) * z + T(1.0 / (2 * N + 1));
  }
}

// (log(1 + f) - f + f^2/2) / f^3 on [sqrt(1/2) - 1, sqrt(2) - 1]: a weighted minimax fit, whose
// share in the relative error of the logarithm is below 4e-8. It spares a division.
TORCHALU_DEVICE inline vec<float> log_tail(vec<float> f) {
  vec<float> p = broadcast(0.08700430393218994f);
  p = p * f - 0.14267486333847046f;
  p = p * f + 0.14914768934249878f;
  p = p * f - 0.1657758504152298f;
  p = p * f + 0.19963063299655914f;
  p = p * f - 0.2500133812427521f;
  p = p * f + 0.3333390951156616f;
  return p;
}

// log x for normal x > 0; and, unless the caller knows that x is finite, for infinity and NaN.
template <class T, bool KnownFinite = false> TORCHALU_DEVICE inline vec<T> log(vec<T> x) {
  using F = format<T>;
  const bits<T> i = to_bits<T>(x);
  const bits<T> k = (i - F::root_half) >> F::mantissa;
  const vec<T> m = from_bits<T>(i - (k << F::mantissa));
  const vec<T> n = to_float<T>(k);
  const vec<T> f = m - T(1);
  vec<T> result;
  if constexpr (sizeof(T) == 4) {
    result = ((log_tail(f) * f - T(0.5)) * (f * f) + f) + n * T(0.6931471805599453);
  } else {
    const vec<T> s = f / (m + T(1));
    const vec<T> z = s * s;
    const vec<T> tail = T(2) * s * z * atanh_series<T, 1, F::atanh_terms>(z) + n * F::ln2_low;
    result = n * F::ln2_high + (T(2) * s + tail);
  }
  if constexpr (KnownFinite) return result;
  else return select<T>(x < broadcast(infinity<T>()), result, x);
}

// Sigmoid of x and of -x, each with all its digits however near the other is to 1.
template <class T> TORCHALU_DEVICE inline void sigmoids(vec<T> x, vec<T> &positive, vec<T> &negative) {
  const vec<T> e = exp<T>(-absolute<T>(x)), large = T(1) / (T(1) + e), small = e * large;
  const bits<T> below = x < zero<T>();
  positive = select<T>(below, small, large);
  negative = select<T>(below, large, small);
}

// tanh x and its slope 1 - tanh(x)^2, both with all their digits.
template <class T> TORCHALU_DEVICE inline void tanh_and_slope(vec<T> x, vec<T> &value, vec<T> &slope) {
  const vec<T> e = exp<T>(T(-2) * absolute<T>(x)), inverse = T(1) / (T(1) + e);
  const vec<T> magnitude = (T(1) - e) * inverse;
  value = select<T>(x < zero<T>(), -magnitude, magnitude);
  slope = T(4) * e * inverse * inverse;
}

// sum of (-z)^k / (2k + Odd)! for k = K .. Terms, divided by (-z)^K.
template <class T, int Odd, int K> TORCHALU_DEVICE inline vec<T> circular_series(vec<T> z) {
  constexpr T c = T((K % 2 ? -1 : 1) * reciprocal_factorial<2 * K + Odd>::value);
  if constexpr (K == format<T>::sin_terms) {
    return broadcast(c);
  } else {
    return circular_series<T, Odd, K + 1>(z) * z + c;
  }
}

// Sine and cosine, for |x| up to about 1e4.
template <class T> TORCHALU_DEVICE inline void sincos(vec<T> x, vec<T> &sine, vec<T> &cosine) {
  using F = format<T>;
  const vec<T> n = nearest<T>(x * T(0.6366197723675814));
  vec<T> r = x - n * F::half_pi_1;
  r = r - n * F::half_pi_2;
  r = r - n * F::half_pi_3;
  r = r - n * F::half_pi_rest;
  const vec<T> z = r * r;
  const vec<T> s = r * circular_series<T, 1, 0>(z), c = circular_series<T, 0, 0>(z);
  const bits<T> q = to_bits<T>(n + F::magic) - F::magic_bits;
  const bits<T> swap = (q & 1) != 0;
  const vec<T> a = select<T>(swap, c, s), b = select<T>(swap, s, c);
  sine = select<T>((q & 2) != 0, -a, a);
  cosine = select<T>(((q + 1) & 2) != 0, -b, b);
}

}  // namespace torchalu::TORCHALU_ISA
