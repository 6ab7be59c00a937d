// Random numbers that are a function of (seed, replica, stream, step) alone.
//
// xoshiro128+ (Blackman & Vigna 2021, doi:10.1145/3460772) in 2 x 16 independent lanes, each
// seeded anew for every batch by splitmix64. Its upper 24 bits are used; the lowest, which are
// weak, are not.
#pragma once

#include "simd.hpp"

namespace torchalu::TORCHALU_ISA {

inline std::uint64_t splitmix64(std::uint64_t &state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// What a batch is drawn for; each has a stream of its own.
enum Stream : std::uint64_t { kTraining = 0, kValidation = 1, kExtrapolation = 2 };

inline std::uint64_t mix(std::uint64_t seed, std::uint64_t replica, std::uint64_t stream,
                         std::uint64_t step) {
  std::uint64_t s = seed;
  s = splitmix64(s) ^ replica;
  s = splitmix64(s) ^ stream;
  s = splitmix64(s) ^ step;
  return splitmix64(s);
}

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
        for (int p = 0; p < kParts; ++p) half[w][p] = *reinterpret_cast<Word *>(&words[w][p * kWordLanes]);
      }
    }
  }

  // Writes 2 groups of 16 words of 32 random bits.
  void next(std::uint32_t *out) {
    for (int h = 0; h < 2; ++h) {
      for (int p = 0; p < kParts; ++p) {
        Word &a = state_[h][0][p], &b = state_[h][1][p], &c = state_[h][2][p], &d = state_[h][3][p];
        *reinterpret_cast<Word *>(out + h * kRowGroup + p * kWordLanes) = a + d;
        const Word t = b << 9;
        c ^= a;
        d ^= b;
        b ^= c;
        a ^= d;
        c ^= t;
        d = (d << 11) | (d >> 21);
      }
    }
  }

 private:
  typedef std::uint32_t Word __attribute__((vector_size(kRegisterBytes), may_alias));
  static constexpr int kWordLanes = kRegisterBytes / 4, kParts = kRowGroup / kWordLanes;
  Word state_[2][4][kParts];
};

}  // namespace torchalu::TORCHALU_ISA
