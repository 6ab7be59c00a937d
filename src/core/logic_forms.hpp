// Functions of groups of logits: values, slopes and gradients, a vector of groups at a time.
//
// The piecewise linear ones answer with a value and give the code of each slope; see LogicOperands.
// The exact ones hold value and gradient to the last digits however large or small the logits are:
// they work with exp(-|z|), or with exp(m - |z|), m being the smallest |z|, and subtract nothing that
// is nearly equal.
#pragma once

#include "elementary.hpp"
#include "logic.hpp"

namespace torchalu::TORCHALU_ISA {

// The operands of a vector of groups. K is their number, or 0 where it is known only when the
// program runs.
template <class T, int K> struct Operands {
  const vec<T> *value;
  int count;

  int size() const { return K ? K : count; }
  vec<T> operator[](int j) const { return value[j]; }
};

template <class T> inline vec<T> negate_where(bits<T> mask, vec<T> x) {
  return from_bits<T>(to_bits<T>(x) ^ (mask & format<T>::sign));
}

// Operands with the least key share the slope evenly: `code` is called with an operand's number and
// its code, `signs` with its number for the mask of negative slopes.
template <class T, int K, class Key, class Signs, class Code>
inline void share_slope(const Operands<T, K> &z, vec<T> least, Key &&key, Signs &&signs, Code &&code) {
  bits<T> ties{};
  for (int j = 0; j < z.size(); ++j) ties -= key(j) == least;
  for (int j = 0; j < z.size(); ++j) {
    const bits<T> negative = signs(j);
    code(j, (key(j) == least) & ((ties ^ negative) - negative));
  }
}

// The sum of the negative operands if any is negative, else the least; De Morgan makes OR of it.
template <class T, int K, bool Or, class Code> inline vec<T> and_ail(const Operands<T, K> &z, Code &&code) {
  const auto operand = [&](int j) { return Or ? -z[j] : z[j]; };
  if constexpr (K == 2) {
    const vec<T> a = operand(0), b = operand(1);
    const bits<T> both = maximum<T>(a, b) < zero<T>(), less = a < b, tie = (a == b) & 2;
    code(0, bits<T>((both | less) ? bits<T>{} + 1 : tie));
    code(1, bits<T>((both | (b < a)) ? bits<T>{} + 1 : tie));
    const vec<T> sum = a + b;  // NaN where one of them is
    const vec<T> y = select<T>(less & ~both, a, select<T>((a >= b) & ~both, b, sum));
    return Or ? -y : y;
  }
  vec<T> least = operand(0), sum = zero<T>();
  bits<T> any{};
  for (int j = 0; j < z.size(); ++j) {
    const vec<T> x = operand(j);
    least = minimum<T>(x, least);
    sum += select<T>(x > zero<T>(), zero<T>(), x);  // keeps NaN
    any |= x < zero<T>();
  }
  share_slope<T>(z, least, operand, [](int) { return bits<T>{}; }, [&](int j, bits<T> shared) {
    code(j, any ? bits<T>(-(operand(j) < zero<T>())) : shared);
  });
  const vec<T> y = sum + maximum<T>(least, zero<T>());
  return Or ? -y : y;
}

// The least magnitude, negative if an odd number of operands is; 0 counts as positive.
template <class T, int K, class Code> inline vec<T> xnor_ail(const Operands<T, K> &z, Code &&code) {
  const auto size = [&](int j) { return absolute<T>(z[j]); };
  vec<T> least = size(0);
  bits<T> odd{}, unordered{};
  for (int j = 0; j < z.size(); ++j) {
    least = minimum<T>(size(j), least);
    odd ^= z[j] < zero<T>();
    unordered |= z[j] != z[j];
  }
  share_slope<T>(z, least, size, [&](int j) { return odd ^ (z[j] < zero<T>()); }, code);
  return select<T>(unordered, broadcast(T(__builtin_nan(""))), negate_where<T>(odd, least));
}

template <class T, int K, bool Max, class Code> inline vec<T> min_out(const Operands<T, K> &z, Code &&code) {
  const auto operand = [&](int j) { return Max ? -z[j] : z[j]; };
  vec<T> least = operand(0);
  bits<T> unordered{};
  for (int j = 0; j < z.size(); ++j) {
    least = minimum<T>(operand(j), least);
    unordered |= z[j] != z[j];
  }
  share_slope<T>(z, least, operand, [](int) { return bits<T>{}; }, code);
  return select<T>(unordered, broadcast(T(__builtin_nan(""))), Max ? -least : least);
}

// exp(-a) and 1 - exp(-a) for a >= 0, both with all their digits.
template <class T> struct Power {
  vec<T> value, rest;

  explicit Power(vec<T> a) {
    using F = format<T>;
    const vec<T> x = maximum<T>(broadcast(F::exp_low), -a), n = nearest<T>(x * T(1.4426950408889634));
    vec<T> r = x - n * F::ln2_high;
    r = r - n * F::ln2_low;
    const vec<T> q = r * exp_series<T, 1, F::exp_terms>(r), s = scaled<T>(broadcast(T(1)), n);
    value = s + s * q;
    rest = (T(1) - s) - s * q;
  }
  // exp(least - a) for a >= least, what the difference rounds away included.
  Power(vec<T> a, vec<T> least) : Power(select<T>(a == least, zero<T>(), vec<T>(a - least))) {
    const vec<T> difference = a - least, lost = (a - difference) - least;
    const vec<T> share = select<T>(difference < broadcast(-format<T>::exp_low), vec<T>(value * lost), zero<T>());
    value -= share;
    rest += share;
  }
};

// exp(shift - |z|) for each operand, where the caller knows that of the least |z|: with two operands
// one is left to be computed.
template <class T, int K> class Powers {
 public:
  Powers(const Operands<T, K> &z, vec<T> least, vec<T> shift, vec<T> value, vec<T> rest)
      : z_(z), least_(least), shift_(shift), value_(value), rest_(rest),
        other_(K == 2 ? select<T>(is_least(0), absolute<T>(z[1]), absolute<T>(z[0])) : least, shift) {}

  Power<T> operator[](int j) const {
    if constexpr (K != 2) return Power<T>(absolute<T>(z_[j]), shift_);
    Power<T> power = other_;
    power.value = select<T>(is_least(j), value_, power.value);
    power.rest = select<T>(is_least(j), rest_, power.rest);
    return power;
  }

 private:
  bits<T> is_least(int j) const { return absolute<T>(z_[j]) == least_; }

  const Operands<T, K> &z_;
  vec<T> least_, shift_, value_, rest_;
  Power<T> other_;
};

// log(1 + x) where `near`, else log(y).
template <class T> inline vec<T> log_near_one(bits<T> near, vec<T> x, vec<T> y) {
  const vec<T> sum = T(1) + x, added = sum - T(1), logarithm = log<T>(select<T>(near, sum, y));
  return select<T>(near, select<T>(added == zero<T>(), x, vec<T>(logarithm * (x / added))), logarithm);
}

// -log(prod(1 + exp(-z)) - 1), and its gradient: `gradient` is called with an operand's number and
// the derivative by it.
//
// Let v = exp(-|z|), prod(1 + v) = 1 + r, and let n and w be the sum and the product of |z| and of v
// over the negative operands. Then the value is -n - log(d), d = r + 1 - w, and a derivative
// u (1 + r) / ((1 + v) d), u being v or, for a negative operand, 1; with two operands (1 + r) / (1 + v)
// is 1 + v of the other. Without negative operands, v, r and d are taken exp(m) times as large,
// m = min |z|, so that they do not vanish. The operand with that |z| comes last: what the others make
// of r shows whether the value is near 0, where d is formed from 1 - v instead of v.
template <class T, int K, bool Or, class Gradient>
inline vec<T> logit_and(const Operands<T, K> &z, Gradient &&gradient) {
  constexpr int kRescaleEvery = 32;  // operands; so many double r at most that often
  const auto operand = [&](int j) { return Or ? -z[j] : z[j]; };
  const vec<T> one = broadcast(T(1)), none = zero<T>();
  vec<T> least = absolute<T>(z[0]), sum = none;
  for (int j = 0; j < z.size(); ++j) {
    least = minimum<T>(absolute<T>(z[j]), least);
    sum += minimum<T>(operand(j), none);
  }
  const bits<T> positive = sum == none;
  const vec<T> shift = select<T>(positive, least, none);
  const Power<T> last(least);
  const vec<T> lifted = select<T>(positive, last.value, one);  // exp(-shift)
  const vec<T> last_power = select<T>(positive, one, last.value);
  const Powers<T, K> powers(z, least, shift, last_power, none);
  vec<T> r = none, w = one, unit = one, rescaled = none;
  bits<T> found{}, last_negative{};
  for (int j = 0; j < z.size(); ++j) {
    const bits<T> is_last = (absolute<T>(z[j]) == least) & ~found, negative = operand(j) < none;
    found |= is_last;
    last_negative |= is_last & negative;
    const vec<T> v = powers[j].value;
    r = select<T>(is_last, r, vec<T>(r + v * (unit + lifted * r)));
    w = select<T>(negative & ~is_last, vec<T>(w * v), w);
    if (j % kRescaleEvery == kRescaleEvery - 1) {
      const bits<T> large = r > broadcast(T(0x1p32));
      r = select<T>(large, vec<T>(r * T(0x1p-32)), r);
      unit = select<T>(large, vec<T>(unit * T(0x1p-32)), unit);
      rescaled += select<T>(large, one, none);
    }
  }
  const vec<T> excess = lifted * r * (one + last.value) +
                        select<T>(last_negative, vec<T>(last.value * (one - w)), vec<T>((one - w) - last.rest));
  w = select<T>(last_negative, vec<T>(w * last.value), w);
  r = r + last_power * (unit + lifted * r);
  const vec<T> d = r + unit * (one - w), share = (unit + lifted * r) / d, inverse = one / d;
  for (int j = 0; j < z.size(); ++j) {
    const vec<T> u = powers[j].value, above = select<T>(operand(j) < none, one, u);
    if constexpr (K == 2) gradient(j, vec<T>(above * ((one + lifted * powers[1 - j].value) * inverse)));
    else gradient(j, vec<T>(above * share / (one + lifted * u)));
  }
  const bits<T> near = absolute<T>(excess) < broadcast(T(0.5));
  const vec<T> logarithm = log_near_one<T>(near, excess, d) + rescaled * T(22.180709777918249);  // log(2^32)
  const vec<T> y = sum + (select<T>(near, none, shift) - logarithm);
  return Or ? -y : y;
}

// 2 atanh(prod tanh(z / 2)) and its gradient.
//
// With t = tanh(|z| / 2) = (1 - v) / (1 + v), the sum d = 1 - prod(t) is formed without
// subtracting, exp(m) times as large, m = min |z|. `scratch` holds a vector for each operand.
template <class T, int K, class Gradient>
inline vec<T> logit_xnor(const Operands<T, K> &z, vec<T> *scratch, Gradient &&gradient) {
  vec<T> least = absolute<T>(z[0]);
  for (int j = 1; j < z.size(); ++j) least = minimum<T>(absolute<T>(z[j]), least);
  const vec<T> one = broadcast(T(1));
  const Power<T> first(least);
  const Powers<T, K> powers(z, least, least, one, zero<T>());
  const auto parts = [&](int j, vec<T> &v, vec<T> &inverse, vec<T> &t) {
    const Power<T> power = powers[j];
    v = power.value;
    inverse = one / (one + first.value * v);
    t = negate_where<T>(z[j] < zero<T>(), (first.rest + first.value * power.rest) * inverse);
  };
  vec<T> product = one, d = zero<T>(), v, inverse, t;
  for (int j = 0; j < z.size(); ++j) {
    parts(j, v, inverse, t);
    scratch[j] = product;
    product = product * t;
    d = d * absolute<T>(t) + T(2) * v * inverse;
  }
  const vec<T> size = absolute<T>(product), scale = T(4) / (d * (one + size));
  vec<T> after = one;
  for (int j = z.size() - 1; j >= 0; --j) {
    parts(j, v, inverse, t);
    gradient(j, vec<T>(scratch[j] * after * (v * inverse * inverse * scale)));
    after = after * t;
  }
  const bits<T> near = size < broadcast(T(0.5));
  const vec<T> logarithm = log_near_one<T>(near, vec<T>(T(2) * size / (first.value * d)), vec<T>((one + size) / d));
  return negate_where<T>(to_bits<T>(product) < 0, vec<T>(select<T>(near, zero<T>(), least) + logarithm));
}

// |prod z|^(1/k) with the sign of the product. Its derivative y / (k z) is infinite at z = 0, and
// given as 0 there.
template <class T, int K, class Gradient>
inline vec<T> signed_geomean(const Operands<T, K> &z, Gradient &&gradient) {
  using F = format<T>;
  constexpr int kLift = F::mantissa + 1;  // brings denormal numbers among the normal ones
  const T k = T(z.size()), small = T(sizeof(T) == 4 ? 0x1p-126 : 0x1p-1022), lift = T(1ll << kLift);
  vec<T> exponents = zero<T>(), logs = zero<T>(), product = broadcast(T(1));
  bits<T> odd{}, none{}, special{};
  for (int j = 0; j < z.size(); ++j) {
    const vec<T> size = absolute<T>(z[j]);
    const bits<T> denormal = size < broadcast(small);
    const bits<T> i = to_bits<T>(select<T>(denormal, size * lift, size)), exponent = (i >> F::mantissa) - F::bias;
    exponents += to_float<T>(exponent - (denormal & kLift));
    logs += log<T>(from_bits<T>(i - (exponent << F::mantissa)));
    product = product * size;
    odd ^= z[j] < zero<T>();
    none |= size == zero<T>();
    special |= ~(size < broadcast(T(__builtin_inf())));
  }
  const vec<T> whole = nearest<T>(exponents / k);
  const vec<T> rest = exp<T>((logs + (exponents - whole * k) * T(0.6931471805599453)) / k);
  vec<T> y = scaled<T>(rest, whole);
  y = negate_where<T>(odd, select<T>(special, product, select<T>(none, zero<T>(), y)));
  for (int j = 0; j < z.size(); ++j)
    gradient(j, select<T>(z[j] == zero<T>(), zero<T>(), vec<T>(y / z[j] / k)));
  return y;
}

}  // namespace torchalu::TORCHALU_ISA
