// Vectors of one register, and the elementary functions on them.
//
// A `vec<T>` is the compiler's own vector type of the widest register that the
// translation unit is built for. Everything here lies in a namespace named after the
// instruction set, so that objects built for several of them link side by side.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace torchalu::TORCHALU_ISA {

#if defined(__AVX512F__)
inline constexpr int kRegisterBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kRegisterBytes = 32;
#else
inline constexpr int kRegisterBytes = 16;
#endif

// Batches are padded to whole groups of this many rows on every instruction set: it is
// also the number of lanes of the random number generator.
inline constexpr int kRowGroup = 16;

template <class T> struct vec_of;
template <> struct vec_of<float> {
  typedef float type __attribute__((vector_size(kRegisterBytes)));
  typedef std::int32_t bits __attribute__((vector_size(kRegisterBytes)));
};
template <> struct vec_of<double> {
  typedef double type __attribute__((vector_size(kRegisterBytes)));
  typedef std::int64_t bits __attribute__((vector_size(kRegisterBytes)));
};
template <class T> using vec = typename vec_of<T>::type;
template <class T> using bits = typename vec_of<T>::bits;
template <class T> inline constexpr int kLanes = kRegisterBytes / int(sizeof(T));

template <class T> inline vec<T> load(const T *p) {
  typedef vec<T> any __attribute__((may_alias));
  return *reinterpret_cast<const any *>(p);
}
template <class T> inline void store(T *p, vec<T> v) {
  typedef vec<T> any __attribute__((may_alias));
  *reinterpret_cast<any *>(p) = v;
}
template <class T> inline vec<T> broadcast(T x) { return x - vec<T>{}; }
template <class T> inline vec<T> zero() { return vec<T>{}; }

template <class T> inline bits<T> to_bits(vec<T> v) { return reinterpret_cast<bits<T>>(v); }
template <class T> inline vec<T> from_bits(bits<T> v) { return reinterpret_cast<vec<T>>(v); }

template <class T> inline vec<T> select(bits<T> mask, vec<T> yes, vec<T> no) {
  return mask ? yes : no;
}
template <class T> inline vec<T> minimum(vec<T> a, vec<T> b) { return select<T>(a < b, a, b); }
template <class T> inline vec<T> maximum(vec<T> a, vec<T> b) { return select<T>(a > b, a, b); }

// Written lane by lane, which compilers turn into one instruction.
template <class T> inline vec<T> square_root(vec<T> x) {
  alignas(kRegisterBytes) T lanes[kLanes<T>];
  store(lanes, x);
  for (T &lane : lanes) {
    if constexpr (sizeof(T) == 4) lane = __builtin_sqrtf(lane);
    else lane = __builtin_sqrt(lane);
  }
  return load(lanes);
}

// a ^ b ^ c, which AVX-512 has as one instruction that compilers miss.
template <class Bits> inline Bits xor3(Bits a, Bits b, Bits c) {
#if defined(__AVX512F__)
  return reinterpret_cast<Bits>(_mm512_ternarylogic_epi32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b),
                                                          reinterpret_cast<__m512i>(c), 0x96));
#else
  return a ^ b ^ c;
#endif
}

template <class T> struct format;
template <> struct format<float> {
  using integer = std::int32_t;
  static constexpr int mantissa = 23;
  static constexpr integer bias = 127, sign = integer(0x80000000u), magic_bits = 0x4b400000;
  static constexpr float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  static constexpr float exp_high = 88.72283f, exp_low = -103.97208f;
  static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  static constexpr integer root_half = 0x3f3504f3;
  static constexpr int exp_terms = 7, sin_terms = 5, atanh_terms = 5;
  static constexpr float half_pi[3] = {1.5703125f, 4.8351287841796875e-4f, 3.13855707645416259765625e-7f};
  static constexpr float half_pi_rest = 6.077100506506192e-11f;
};
template <> struct format<double> {
  using integer = std::int64_t;
  static constexpr int mantissa = 52;
  static constexpr integer bias = 1023, sign = integer(0x8000000000000000ull),
                           magic_bits = 0x4338000000000000;
  static constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double exp_high = 709.782712893384, exp_low = -745.1332191019412;
  static constexpr double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
  static constexpr integer root_half = 0x3fe6a09e667f3bcd;
  static constexpr int exp_terms = 13, sin_terms = 9, atanh_terms = 11;
  static constexpr double half_pi[3] = {0x1.921fb54400000p+0, 0x1.0b4611a600000p-34,
                                        0x1.3198a2e000000p-69};
  static constexpr double half_pi_rest = 0x1.b839a252049c1p-104;
};

template <class T> inline vec<T> absolute(vec<T> x) {
  return from_bits<T>(to_bits<T>(x) & ~format<T>::sign);
}
// -1, 0 or 1, as torch.sign.
template <class T> inline vec<T> sign(vec<T> x) {
  const vec<T> one = broadcast(T(1)), none = zero<T>();
  return select<T>(x > none, one, select<T>(x < none, -one, none));
}

// The whole number nearest to x, for |x| < 2^22 (float) or 2^51 (double).
template <class T> inline vec<T> nearest(vec<T> x) {
  return (x + format<T>::magic) - format<T>::magic;
}
// 2^n for a whole number n within the normal exponents.
template <class T> inline vec<T> power_of_two(vec<T> n) {
  const bits<T> k = to_bits<T>(n + format<T>::magic) - format<T>::magic_bits;
  return from_bits<T>((k + format<T>::bias) << format<T>::mantissa);
}
template <class T> inline vec<T> to_float(bits<T> k) {
  if constexpr (sizeof(T) == 4) return __builtin_convertvector(k, vec<T>);
  else return from_bits<T>(k + format<T>::magic_bits) - format<T>::magic;
}

template <int N> struct reciprocal_factorial {
  static constexpr double value = reciprocal_factorial<N - 1>::value / N;
};
template <> struct reciprocal_factorial<0> {
  static constexpr double value = 1.0;
};

// sum of r^n / n! for n = N .. Last, divided by r^N.
template <class T, int N, int Last> inline vec<T> exp_series(vec<T> r) {
  if constexpr (N == Last) {
    return broadcast(T(reciprocal_factorial<N>::value));
  } else {
    return exp_series<T, N + 1, Last>(r) * r + T(reciprocal_factorial<N>::value);
  }
}

// e^x: e^r 2^n with |r| <= ln(2)/2; overflows to infinity, underflows to 0, keeps NaN.
template <class T> inline vec<T> exp(vec<T> x) {
  using F = format<T>;
  const vec<T> high = broadcast(F::exp_high), low = broadcast(F::exp_low);
  const vec<T> y = minimum<T>(maximum<T>(x, low), high);
  const vec<T> n = nearest<T>(y * T(1.4426950408889634));
  vec<T> r = y - n * F::ln2_high;
  r = r - n * F::ln2_low;
  const vec<T> p = exp_series<T, 0, F::exp_terms>(r);
  const vec<T> half = nearest<T>(n * T(0.5));
  vec<T> result = p * power_of_two<T>(half) * power_of_two<T>(n - half);
  result = select<T>(x > high, broadcast(T(__builtin_inf())), result);
  result = select<T>(x < low, zero<T>(), result);
  return select<T>(x == x, result, x);
}

// sum of z^(n-N) / (2n + 1) for n = N .. Last.
template <class T, int N, int Last> inline vec<T> atanh_series(vec<T> z) {
  if constexpr (N == Last) {
    return broadcast(T(1.0 / (2 * N + 1)));
  } else {
    return atanh_series<T, N + 1, Last>(z) * z + T(1.0 / (2 * N + 1));
  }
}

// (log(1 + f) - f + f^2/2) / f^3 on [sqrt(1/2) - 1, sqrt(2) - 1]: a weighted minimax fit, whose
// share in the relative error of the logarithm is below 4e-8. It spares a division.
inline vec<float> log_tail(vec<float> f) {
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
template <class T, bool KnownFinite = false> inline vec<T> log(vec<T> x) {
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
  else return select<T>(x < broadcast(T(__builtin_inf())), result, x);
}

// Sigmoid of x and of -x, each with all its digits however near the other is to 1.
template <class T> inline void sigmoids(vec<T> x, vec<T> &positive, vec<T> &negative) {
  const vec<T> e = exp<T>(-absolute<T>(x)), large = T(1) / (T(1) + e), small = e * large;
  const bits<T> below = x < zero<T>();
  positive = select<T>(below, small, large);
  negative = select<T>(below, large, small);
}

// tanh x and its slope 1 - tanh(x)^2, both with all their digits.
template <class T> inline void tanh_and_slope(vec<T> x, vec<T> &value, vec<T> &slope) {
  const vec<T> e = exp<T>(T(-2) * absolute<T>(x)), inverse = T(1) / (T(1) + e);
  const vec<T> magnitude = (T(1) - e) * inverse;
  value = select<T>(x < zero<T>(), -magnitude, magnitude);
  slope = T(4) * e * inverse * inverse;
}

// sum of (-z)^k / (2k + Odd)! for k = K .. Terms, divided by (-z)^K.
template <class T, int Odd, int K> inline vec<T> circular_series(vec<T> z) {
  constexpr T c = T((K % 2 ? -1 : 1) * reciprocal_factorial<2 * K + Odd>::value);
  if constexpr (K == format<T>::sin_terms) {
    return broadcast(c);
  } else {
    return circular_series<T, Odd, K + 1>(z) * z + c;
  }
}

// Sine and cosine, for |x| up to about 1e4.
template <class T> inline void sincos(vec<T> x, vec<T> &sine, vec<T> &cosine) {
  using F = format<T>;
  const vec<T> n = nearest<T>(x * T(0.6366197723675814));
  vec<T> r = x - n * F::half_pi[0];
  r = r - n * F::half_pi[1];
  r = r - n * F::half_pi[2];
  r = r - n * F::half_pi_rest;
  const vec<T> z = r * r;
  const vec<T> s = r * circular_series<T, 1, 0>(z), c = circular_series<T, 0, 0>(z);
  const bits<T> q = to_bits<T>(n + F::magic) - F::magic_bits;
  const bits<T> swap = (q & 1) != 0;
  const vec<T> a = select<T>(swap, c, s), b = select<T>(swap, s, c);
  sine = select<T>((q & 2) != 0, -a, a);
  cosine = select<T>(((q + 1) & 2) != 0, -b, b);
}

// The numbers 0 .. N - 1 as a parameter pack.
template <int... L> struct Sequence {};
template <int N, int... L> struct sequence_of : sequence_of<N - 1, N - 1, L...> {};
template <int... L> struct sequence_of<0, L...> { using type = Sequence<L...>; };
template <class T> using lane_sequence = typename sequence_of<kLanes<T>>::type;

// Lanes of a (numbered from 0) and of b (from kLanes) in the order given.
template <class T, int... Lane> inline vec<T> shuffle(vec<T> a, vec<T> b) {
#if defined(__clang__) || __GNUC__ >= 12
  return __builtin_shufflevector(a, b, Lane...);
#else
  return __builtin_shuffle(a, b, bits<T>{Lane...});
#endif
}

// Lanes of a and b in turns, from the first half of both and from the second.
template <class T, int... L> inline void interleave(vec<T> a, vec<T> b, vec<T> &low, vec<T> &high, Sequence<L...>) {
  constexpr int n = kLanes<T>;
  low = shuffle<T, (L / 2 + (L % 2 ? n : 0))...>(a, b);
  high = shuffle<T, (L / 2 + n / 2 + (L % 2 ? n : 0))...>(a, b);
}

// In groups of H lanes: each group of a at an even place plus its neighbor, each group of b at an
// odd place plus its neighbor.
template <class T, int H, int... L> inline vec<T> fold(vec<T> a, vec<T> b, Sequence<L...>) {
  constexpr int n = kLanes<T>;
  return shuffle<T, (L / H % 2 ? n + L : L)...>(a, b) + shuffle<T, (L / H % 2 ? n + L - H : L + H)...>(a, b);
}

// Transposes a square of kLanes vectors: after each round, what stood half a square apart stands
// side by side.
template <class T> inline void transpose(vec<T> (&v)[kLanes<T>]) {
  constexpr int n = kLanes<T>;
  vec<T> next[n];
  for (int round = 1; round < n; round *= 2) {
    for (int i = 0; i < n / 2; ++i) interleave<T>(v[i], v[i + n / 2], next[2 * i], next[2 * i + 1], lane_sequence<T>{});
    for (int i = 0; i < n; ++i) v[i] = next[i];
  }
}

// k with its lowest log2(n) bits in reverse order.
constexpr int reversed_bits(int k, int n) { return n == 1 ? 0 : (k % 2) * (n / 2) + reversed_bits(k / 2, n / 2); }

// Folds Count vectors into one by halves of lanes; vector k ends in lane reversed_bits(k).
template <class T, int Count = kLanes<T>> inline vec<T> fold_all(const vec<T> *v) {
  if constexpr (Count == 1) {
    return v[0];
  } else {
    vec<T> next[Count / 2];
    for (int i = 0; i < Count / 2; ++i) next[i] = fold<T, Count / 2>(v[2 * i], v[2 * i + 1], lane_sequence<T>{});
    return fold_all<T, Count / 2>(next);
  }
}

// One vector whose lane l is the sum over the lanes of v[l].
template <class T> inline vec<T> sum_each(const vec<T> *v) {
  vec<T> ordered[kLanes<T>];
  for (int k = 0; k < kLanes<T>; ++k) ordered[reversed_bits(k, kLanes<T>)] = v[k];
  return fold_all<T>(ordered);
}

template <class T, int H = kLanes<T> / 2> inline T sum(vec<T> v) {
  if constexpr (H == 0) return v[0];
  else return sum<T, H / 2>(fold<T, H>(v, v, lane_sequence<T>{}));
}

}  // namespace torchalu::TORCHALU_ISA
