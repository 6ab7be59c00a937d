// Uniform numbers, a number a lane at a time: the very ones of random.hpp, whose 2 x 16 lanes are
// the 32 of a warp.
#pragma once

#include "../plan.hpp"
#include "../simd.hpp"
#include "../streams.hpp"

namespace torchalu::TORCHALU_ISA {

#if defined(__CUDACC__)
using Words = std::uint32_t;
template <class T> TORCHALU_DEVICE inline vec<T> to_float(Words word) { return T(word); }
#else
typedef std::uint32_t Words __attribute__((vector_size(kRegisterBytes)));
template <class T> inline vec<T> to_float(Words word) { return __builtin_convertvector(word, vec<T>); }
#endif

#if defined(__CUDACC__)
// a ^ b ^ c as the one instruction that it is: left to itself the compiler takes more for a chain of them.
TORCHALU_DEVICE inline Words xor3(Words a, Words b, Words c) {
#if defined(__CUDA_ARCH__)
  Words result;
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
#else
  return a ^ b ^ c;
#endif
}
#endif

// The two words of 32 bits that each lane draws from splitmix64, at the same place of its stream.
TORCHALU_DEVICE inline void seed_words(std::uint64_t seed, int place, Words &low, Words &high) {
#if defined(__CUDACC__)
  std::uint64_t at = seed + std::uint64_t(2 * lane() + place) * kGoldenGamma;
  const std::uint64_t z = splitmix64(at);
  low = std::uint32_t(z), high = std::uint32_t(z >> 32) | 1u;  // never the all-zero state
#else
  for (int l = 0; l < kLanes<float>; ++l) {
    std::uint64_t at = seed + std::uint64_t(2 * l + place) * kGoldenGamma;
    const std::uint64_t z = splitmix64(at);
    low[l] = std::uint32_t(z), high[l] = std::uint32_t(z >> 32) | 1u;
  }
#endif
}

class Generator {
 public:
  TORCHALU_DEVICE explicit Generator(std::uint64_t seed) { seed_words(seed, 0, a_, b_), seed_words(seed, 1, c_, d_); }

  // The next 32 random bits of each lane.
  TORCHALU_DEVICE Words next() {
    const Words result = a_ + d_, t = b_ << 9, mixed = d_ ^ b_, old = a_;
    a_ = a_ ^ mixed;
    b_ = xor3(b_, c_, old);
    c_ = xor3(c_, old, t);
    d_ = (mixed << 11) | (mixed >> 21);
    return result;
  }

 private:
  Words a_, b_, c_, d_;
};

// Numbers on a range from 32 random bits each: the upper 24, and bit 7 for the side of a two-sided
// range.
template <class T> class Uniform {
 public:
  TORCHALU_DEVICE explicit Uniform(const Range &range, double part = 1)
      : low_(T(range.low * part)), width_(T((range.high - range.low) * part * 0x1p-32)), low2_(T(range.low2 * part)),
        width2_(T((range.high2 - range.low2) * part * 0x1p-32)), two_sided_(range.two_sided) {}

  TORCHALU_DEVICE T low() const { return low_; }
  TORCHALU_DEVICE bool two_sided() const { return two_sided_; }
  TORCHALU_DEVICE vec<T> operator()(Words word) const {
    const vec<T> value = above(broadcast(low_), word);
    return two_sided_ ? select<T>((word & 0x80u) != 0, upper(word) * width2_ + low2_, value) : value;
  }
  // Of one side, with a lower end of its own in each lane.
  TORCHALU_DEVICE vec<T> above(vec<T> low, Words word) const { return upper(word) * width_ + low; }

 private:
  TORCHALU_DEVICE static vec<T> upper(Words word) { return to_float<T>(word & 0xffffff00u); }

  T low_, width_, low2_, width2_;
  bool two_sided_;
};

// Independent numbers on a range: `count` of them, a whole number of warps.
template <class T> TORCHALU_OUTLINE
void draw_uniform(std::uint64_t key, const Range &range, std::ptrdiff_t count, T *out) {
  Generator generator(key);
  const Uniform<T> uniform(range);
  for (std::ptrdiff_t k = 0; k < count; k += kLanes<T>) store(out + k, uniform(generator.next()));
}

}  // namespace torchalu::TORCHALU_ISA
