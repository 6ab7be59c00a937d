// Uniform numbers, sixteen rows at a time.
#pragma once

#include "plan.hpp"
#include "random.hpp"

namespace torchalu::TORCHALU_ISA {

// Uniform numbers on a range, from 32 random bits each: the upper 24, and bit 7 for the side of a
// two-sided range.
template <class T> class Uniform {
 public:
  explicit Uniform(const Range &range)
      : low_(broadcast(T(range.low))), width_(broadcast(T((range.high - range.low) * 0x1p-24))),
        low2_(broadcast(T(range.low2))), width2_(broadcast(T((range.high2 - range.low2) * 0x1p-24))),
        two_sided_(range.two_sided) {}

  // 16 numbers at out, in order.
  void write(const Generator::Word (&words)[Generator::kParts], T *out) const {
    for (int p = 0; p < Generator::kParts; ++p) {
      if constexpr (sizeof(T) == 4) {
        write_vector(bits<T>(words[p] >> 8), bits<T>(words[p]), out + p * kLanes<T>);
      } else {  // as many words as a vector of doubles has lanes, twice
        alignas(64) std::uint32_t lanes[Generator::kWordLanes];
        *reinterpret_cast<Generator::Word *>(lanes) = words[p];
        for (int part = 0; part < 2; ++part) {
          bits<T> wide;
          for (int l = 0; l < kLanes<T>; ++l) wide[l] = lanes[part * kLanes<T> + l];
          write_vector(wide >> 8, wide, out + (2 * p + part) * kLanes<T>);
        }
      }
    }
  }

 private:
  void write_vector(bits<T> upper, bits<T> word, T *out) const {
    const vec<T> u = __builtin_convertvector(upper, vec<T>);
    const vec<T> value = u * width_ + low_;
    store(out, two_sided_ ? select<T>((word & 0x80) != 0, u * width2_ + low2_, value) : value);
  }

  vec<T> low_, width_, low2_, width2_;
  bool two_sided_;
};

// Independent numbers on a range: `count` of them, a whole number of row groups.
template <class T> void draw_uniform(std::uint64_t key, const Range &range, std::ptrdiff_t count, T *out) {
  Generator generator(key);
  const Uniform<T> uniform(range);
  Generator::Word words[Generator::kParts];
  std::ptrdiff_t k = 0;
  for (; k + 2 * kRowGroup <= count; k += 2 * kRowGroup) {
    generator.next(0, words);
    uniform.write(words, out + k);
    generator.next(1, words);
    uniform.write(words, out + k + kRowGroup);
  }
  if (k < count) {
    generator.next(0, words);
    uniform.write(words, out + k);
  }
}

}  // namespace torchalu::TORCHALU_ISA
