// What happens to single elements of a recurrence: gates, dropout, the slopes of all that.
//
// Written for any V: a vector or a number.
#pragma once

#include "convolution.hpp"
#include "elementary.hpp"

namespace torchalu::TORCHALU_ISA {

// max(low, min(x, high)), NaN kept.
template <class V, class T> inline V clip(V x, T low, T high) {
  const V l = V{} + low, h = V{} + high;
  const V above = l > x ? l : x;
  return h < above ? h : above;
}
template <class V, class T> inline V inside(V x, T low, T high) {  // 1 in [low, high], else 0
  const V none{}, one = none + T(1);
  return x < low ? none : x > high ? none : one;
}

// e^x for |x| where neither it nor its inverse leaves the normal numbers.
template <class T> inline vec<T> exp_between(vec<T> x) {
  using F = format<T>;
  const vec<T> shifted = x * T(1.4426950408889634) + F::magic, n = shifted - F::magic;
  vec<T> r = x - n * F::ln2_high;
  r = r - n * F::ln2_low;
  const vec<T> p = exp_series<T, 0, F::exp_terms>(r);
  return from_bits<T>(to_bits<T>(p) + ((to_bits<T>(shifted) - F::magic_bits) << F::mantissa));
}
template <class T> inline constexpr T kFarthest = sizeof(T) == 4 ? T(43) : T(350);

template <class T> inline vec<T> sigmoid(vec<T> x) {
  return T(1) / (T(1) + exp_between<T>(clip(-x, T(-2) * kFarthest<T>, T(2) * kFarthest<T>)));
}
// With the error of a number near 1 where the result is small.
template <class T> inline vec<T> tanh(vec<T> x) {
  const vec<T> e = exp_between<T>(T(-2) * clip(x, -kFarthest<T>, kFarthest<T>));
  return (T(1) - e) / (T(1) + e);
}
template <class T, class Function> inline void apply_to_all(T *p, std::int64_t count, Function &&function) {
  std::int64_t k = 0;
  for (; k + kLanes<T> <= count; k += kLanes<T>) put(p + k, function(get<vec<T>>(p + k)));
  if (k == count) return;
  alignas(kRegisterBytes) T rest[kLanes<T>] = {};
  for (int l = 0; l < count - k; ++l) rest[l] = p[k + l];
  store(rest, function(load(rest)));
  for (int l = 0; l < count - k; ++l) p[k + l] = rest[l];
}

// A gate of a sigmoid: clip(scale s + shift, 0, 1).
template <class T> struct Gate {
  T scale, shift;
  explicit Gate(bool cutoff) : scale(cutoff ? T(1.2) : T(1)), shift(cutoff ? T(-0.1) : T(0)) {}
  template <class V> V value(V s) const { return clip(V(s * scale + shift), T(0), T(1)); }
  template <class V> V slope(V s) const { return inside(V(s * scale + shift), T(0), T(1)) * scale * s * (T(1) - s); }
};

// The hard sigmoid of the diagonal cell.
template <class T> struct HardGate {
  template <class V> V value(V x) const { return clip(V(x * T(0.5) + T(0.5)), T(0), T(1)); }
  template <class V> V slope(V x) const { return inside(V(x * T(0.5) + T(0.5)), T(0), T(1)) * T(0.5); }
};

// Numbers of the state as multiples of 1 / levels, halves to even; with 0 levels as they are.
template <class T> class Rounding {
 public:
  explicit Rounding(int levels) : levels_(T(levels)) {}
  template <class V> V value(V x) const {
    if (levels_ == 0) return x;
    return ((x * levels_ + format<T>::magic) - format<T>::magic) / levels_;
  }

 private:
  T levels_;
};

inline constexpr double kSaturated = 0.9;
template <class T> inline T saturation(const T *p, int count) {
  vec<T> sums = zero<T>();
  int j = 0;
  for (; j + kLanes<T> <= count; j += kLanes<T>)
    sums += maximum<T>(absolute<T>(get<vec<T>>(p + j)) - T(kSaturated), zero<T>());
  T total = sum<T>(sums);
  for (; j < count; ++j) {
    const T over = (p[j] < 0 ? -p[j] : p[j]) - T(kSaturated);
    total += over > 0 ? over : T(0);
  }
  return total;
}
template <class T, class V> inline V saturation_slope(V x, T slope) {
  const V none{}, up = none + slope;
  return x - T(kSaturated) > none ? up : -x - T(kSaturated) > none ? -up : none;
}

template <class V, class T> inline constexpr int kLanesOf = int(sizeof(V) / sizeof(T));
template <class V, class T, bool IsVector = (sizeof(V) > sizeof(T))> struct words_of {
  typedef std::uint32_t type __attribute__((vector_size(4 * kLanesOf<V, T>)));
};
template <class V, class T> struct words_of<V, T, false> {
  typedef std::uint32_t type;
};

// Scrambles 32 bits; a bijection.
template <class Word> inline Word scrambled(Word x) {
  x = (x ^ (x >> 16)) * 0x21f0aaadu;
  x = (x ^ (x >> 15)) * 0x735a2d97u;
  return x ^ (x >> 15);
}

// What all that is random in one step of a sequence comes from.
inline std::uint32_t step_word(std::uint32_t key, std::int64_t sequence, std::int64_t step) {
  return scrambled(scrambled(key + 0x9e3779b1u * std::uint32_t(sequence)) + 0x85ebca6bu * std::uint32_t(step));
}
// 24 random bits of each element.
template <class V, class T> inline typename words_of<V, T>::type random_bits(std::uint32_t word, std::uint32_t element) {
  constexpr std::uint32_t kApart = 0xc2b2ae35u;
  typename words_of<V, T>::type place{};
  if constexpr (sizeof(V) > sizeof(T))
    for (int l = 0; l < kLanesOf<V, T>; ++l) place[l] = std::uint32_t(l) * kApart;
  return scrambled(place + (element * kApart + word)) >> 8;
}

// Dropout: what an element is multiplied by.
template <class T> class Dropout {
 public:
  Dropout() = default;  // keeps all
  Dropout(std::uint32_t step_word, double keep)
      : word_(step_word), threshold_(std::uint32_t(keep * 16777216.0)), scale_(keep > 0 ? T(1.0 / keep) : T(0)) {}
  bool keeps_all() const { return threshold_ == 0xffffffffu; }

  template <class V> V factor(std::uint32_t element) const {
    if (keeps_all()) return V{} + T(1);
    const auto stays = random_bits<V, T>(word_, element) < threshold_;
    if constexpr (sizeof(V) == sizeof(T)) return stays ? scale_ : T(0);
    else return __builtin_convertvector(stays, V) * -scale_;  // 0 or -1
  }

 private:
  std::uint32_t word_ = 0, threshold_ = 0xffffffffu;
  T scale_ = T(1);
};

// Noise: what is added to a pre-activation, uniform between -amplitude and amplitude.
template <class T> class Noise {
 public:
  // `stream` 1, 2, ... tells apart the convolutions of a step.
  Noise(std::uint32_t step_word, int stream, T amplitude)
      : word_(scrambled(step_word + 0x27d4eb2fu * std::uint32_t(stream))), amplitude_(amplitude) {}

  template <class V> V value(std::uint32_t element) const {
    const auto bits = random_bits<V, T>(word_, element);
    V number;
    if constexpr (sizeof(V) == sizeof(T)) number = T(bits);
    else number = __builtin_convertvector(bits, V);
    return (number * T(0x1p-23) - T(1)) * amplitude_;
  }

 private:
  std::uint32_t word_;
  T amplitude_;
};

}  // namespace torchalu::TORCHALU_ISA
