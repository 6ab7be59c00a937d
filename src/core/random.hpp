// Random numbers that are a function of (seed, replica, stream, step) alone.
//
// xoshiro128+ (Blackman & Vigna 2021, doi:10.1145/3460772) in 2 x 16 independent lanes, each
// seeded anew for every batch by splitmix64. Its upper 24 bits are used; the lowest, which are
// weak, are not.
#pragma once

#include "simd.hpp"
#include "streams.hpp"

namespace torchalu::TORCHALU_ISA {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) {
    for (auto &half : state_) {
      alignas(64) std::uint32_t words[4][kRowGroup];
      for (int l = 0; l < kRowGroup; ++l) {
        for (int w = 0; w < 4; w += 2) {
          const std::uint64_t z = splitmix64(seed);
          words[w][l] = std::uint32_t(z);
          words[w + 1][l] = std::uint32_t(z >> 32) | 1u;  // never the all-zero state
        }
      }
      for (int w = 0; w < 4; ++w) {
        for (int p = 0; p < kParts; ++p) half[w][p] = *reinterpret_cast<const Word *>(&words[w][p * kWordLanes]);
      }
    }
  }

  typedef std::uint32_t Word __attribute__((vector_size(kRegisterBytes), may_alias));
  static constexpr int kWordLanes = kRegisterBytes / 4, kParts = kRowGroup / kWordLanes;

  // The next 16 words of 32 random bits, as kParts vectors, from one half of the lanes. Groups
  // of rows take the halves in turns, which keeps two independent chains in flight.
  void next(int half, Word (&out)[kParts]) {
    for (int p = 0; p < kParts; ++p) {
      Word &a = state_[half][0][p], &b = state_[half][1][p], &c = state_[half][2][p], &d = state_[half][3][p];
      out[p] = a + d;  // modulo 2^32
      const Word t = b << 9, mixed = d ^ b, old = a;
      a = xor3(a, d, b);
      b = xor3(b, c, old);
      c = xor3(c, old, t);
      d = (mixed << 11) | (mixed >> 21);  // one instruction where there is a rotation
    }
  }

 private:
  Word state_[2][4][kParts];
};

}  // namespace torchalu::TORCHALU_ISA
