// The keys of all random numbers: functions of (seed, replica, stream, step) alone.
#pragma once

#include <cstdint>

#include "device.hpp"

namespace torchalu::TORCHALU_ISA {

inline constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15ull;

TORCHALU_DEVICE inline std::uint64_t splitmix64(std::uint64_t &state) {
  std::uint64_t z = (state += kGoldenGamma);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// What a batch is drawn for; each has a stream of its own, and further ones beside it for the
// number that the inputs of a row share and for the noise of the targets.
enum Stream : std::uint64_t { kTraining = 0, kValidation = 1, kExtrapolation = 2 };
inline constexpr std::uint64_t kCommonStream = 4, kNoiseStream = 8;
inline constexpr std::uint64_t kUnitStream = 16;  // times 1 + the number of the layer: the noise of an sNMU

TORCHALU_DEVICE inline std::uint64_t mix(std::uint64_t seed, std::uint64_t replica, std::uint64_t stream,
                         std::uint64_t step) {
  std::uint64_t s = seed;
  s = splitmix64(s) ^ replica;
  s = splitmix64(s) ^ stream;
  s = splitmix64(s) ^ step;
  return splitmix64(s);
}

}  // namespace torchalu::TORCHALU_ISA
