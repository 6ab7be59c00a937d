// How groups lie in memory, and how vectors of them are read and written.
#pragma once

#include "simd.hpp"

namespace torchalu::TORCHALU_ISA {

template <class Small, int Lanes> struct small_vec {
  typedef Small type __attribute__((vector_size(Lanes * sizeof(Small))));
};
// Lanes of small integers to those of T's size and back, in steps that compilers have instructions for.
template <class T> using bytes = typename small_vec<std::int8_t, kLanes<T>>::type;
template <class T> using words = typename small_vec<std::int16_t, kLanes<T>>::type;
template <class T> using double_words = typename small_vec<std::int32_t, kLanes<T>>::type;

template <class V, class E> inline V read_as(const E *p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class V, class E> inline void write_as(E *p, V v) { __builtin_memcpy(p, &v, sizeof v); }

template <class T> inline bits<T> from_words(words<T> x) {
  return __builtin_convertvector(__builtin_convertvector(x, double_words<T>), bits<T>);
}
template <class T> inline words<T> to_words(bits<T> x) { return __builtin_convertvector(x, words<T>); }

// What lies in memory as E is computed with as lanes of T's size: `lanes` is the vector of them.
// A pair is two vectors whose lanes lie side by side.
template <class E, class T> struct Memory {  // E is T
  using lanes = vec<T>;
  static T widen(E x) { return x; }
  static E narrow(T x) { return x; }
  static lanes read(const E *p) { return read_as<lanes>(p); }
  static void write(E *p, lanes v) { write_as(p, v); }
  static void read_pair(const E *p, lanes &even, lanes &odd) {
    separate(read(p), read(p + kLanes<T>), even, odd, lane_sequence<T>{});
  }
  static void write_pair(E *p, lanes even, lanes odd) {
    lanes low, high;
    interleave<T>(even, odd, low, high, lane_sequence<T>{});
    write(p, low);
    write(p + kLanes<T>, high);
  }

 private:
  template <int... L> static void separate(lanes a, lanes b, lanes &even, lanes &odd, Sequence<L...>) {
    even = shuffle<T, 2 * L...>(a, b);
    odd = shuffle<T, 2 * L + 1 ...>(a, b);
  }
};

struct bfloat16 {
  std::uint16_t half;
};
template <> struct Memory<bfloat16, float> {
  using lanes = vec<float>;
  static float widen(bfloat16 x) { return __builtin_bit_cast(float, std::uint32_t(x.half) << 16); }
  static bfloat16 narrow(float x) { return {std::uint16_t(std::uint32_t(rounded(broadcast(x))[0]) >> 16)}; }
  static lanes read(const bfloat16 *p) { return from_bits<float>(from_words<float>(read_as<words<float>>(p)) << 16); }
  static void write(bfloat16 *p, lanes v) { write_as(p, to_words<float>(rounded(v) >> 16)); }
  static void read_pair(const bfloat16 *p, lanes &even, lanes &odd) {
    const bits<float> both = read_as<bits<float>>(p);
    even = from_bits<float>(both << 16);
    odd = from_bits<float>(both & kUpper);
  }
  static void write_pair(bfloat16 *p, lanes even, lanes odd) {
    write_as(p, bits<float>(((rounded(even) >> 16) & 0xffff) | (rounded(odd) & kUpper)));
  }

 private:
  static constexpr std::int32_t kUpper = std::int32_t(0xffff0000u);
  // To the nearest number whose lower half is 0, ties to even, and that half left as it may be.
  static bits<float> rounded(lanes v) {
    const bits<float> i = to_bits<float>(v), up = i + 0x7fff + ((i >> 16) & 1);
    return v == v ? up : (i | 0x400000);
  }
};

// Small integers, such as the codes of slopes.
template <class T> struct Memory<std::int8_t, T> {
  using lanes = bits<T>;
  static typename format<T>::integer widen(std::int8_t x) { return x; }
  static std::int8_t narrow(typename format<T>::integer x) { return std::int8_t(x); }
  static lanes read(const std::int8_t *p) {
    return from_words<T>(__builtin_convertvector(read_as<bytes<T>>(p), words<T>));
  }
  static void write(std::int8_t *p, lanes v) { write_as(p, __builtin_convertvector(v, bytes<T>)); }
  static void read_pair(const std::int8_t *p, lanes &even, lanes &odd) {
    const words<T> both = read_as<words<T>>(p);
    even = from_words<T>((both << 8) >> 8);
    odd = from_words<T>(both >> 8);
  }
  static void write_pair(std::int8_t *p, lanes even, lanes odd) {
    write_as(p, to_words<T>((even & 0xff) | (odd << 8)));
  }
};

// Positions of a row that are read alike: pairs side by side, lines of which each operand has its
// own, or at most a vector of positions that lie as they may.
struct Run {
  enum Place { kPairs, kLines, kLoose } place;
  std::int64_t begin, offset, within;  // the first position, and its first operand in memory
  int count;
};

// A row of groups, (groups, k, inner). K is k or 0, as in Operands.
template <class T, int K> class Groups {
 public:
  Groups(std::int64_t inner, int k) : inner_(inner), k_(K ? K : k) {}
  int size() const { return K ? K : k_; }

  template <class Body> void for_each_run(std::int64_t begin, std::int64_t end, Body &&body) const {
    for (std::int64_t at = begin; at < end;) {
      const std::int64_t group = at / inner_, within = at % inner_, left = end - at;
      const std::int64_t line = left < inner_ - within ? left : inner_ - within;
      Run run{Run::kLoose, at, group * size() * inner_ + within, within, int(left < kLanes<T> ? left : kLanes<T>)};
      if (K == 2 && inner_ == 1 && left >= kLanes<T>) run.place = Run::kPairs, run.count = whole(left);
      else if (line >= kLanes<T>) run.place = Run::kLines, run.count = whole(line);
      body(run);
      at += run.count;
    }
  }

  // The vectors of operands from position r of a run on.
  template <class E, class V> [[gnu::always_inline]] void read(const Run &run, int r, const E *from, V *operand) const {
    using M = Memory<E, T>;
    from += run.offset;
    if (K == 2 && run.place == Run::kPairs) return M::read_pair(from + 2 * r, operand[0], operand[1]);
    if (run.place == Run::kLines) {
      for (int j = 0; j < size(); ++j) operand[j] = M::read(from + j * inner_ + r);
      return;
    }
    for_each_loose(run, [&](int lane, std::int64_t offset) {
      for (int j = 0; j < size(); ++j) operand[j][lane] = M::widen(from[offset + j * inner_]);
    });
  }
  template <class E, class V> [[gnu::always_inline]] void write(const Run &run, int r, E *to, const V *operand) const {
    using M = Memory<E, T>;
    to += run.offset;
    if (K == 2 && run.place == Run::kPairs) return M::write_pair(to + 2 * r, operand[0], operand[1]);
    if (run.place == Run::kLines) {
      for (int j = 0; j < size(); ++j) M::write(to + j * inner_ + r, operand[j]);
      return;
    }
    for_each_loose(run, [&](int lane, std::int64_t offset) {
      for (int j = 0; j < size(); ++j) to[offset + j * inner_] = M::narrow(operand[j][lane]);
    });
  }

 private:
  static int whole(std::int64_t count) { return int(count / kLanes<T>) * kLanes<T>; }

  // Calls body(lane, offset of its first operand from that of the first lane).
  template <class Body> void for_each_loose(const Run &run, Body &&body) const {
    std::int64_t offset = 0, within = run.within;
    for (int lane = 0; lane < run.count; ++lane, ++offset, ++within) {
      if (within == inner_) within = 0, offset += (size() - 1) * inner_;
      body(lane, offset);
    }
  }

  std::int64_t inner_;
  int k_;
};

// One number for each of the positions from `p` on, at most a vector of them.
template <class T, class E> inline vec<T> read_positions(const E *p, int count) {
  if (count >= kLanes<T>) return Memory<E, T>::read(p);
  vec<T> v{};
  for (int lane = 0; lane < count; ++lane) v[lane] = Memory<E, T>::widen(p[lane]);
  return v;
}
template <class T, class E> inline void write_positions(E *p, int count, vec<T> v) {
  if (count >= kLanes<T>) return Memory<E, T>::write(p, v);
  for (int lane = 0; lane < count; ++lane) p[lane] = Memory<E, T>::narrow(v[lane]);
}

}  // namespace torchalu::TORCHALU_ISA
