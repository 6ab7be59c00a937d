// Teams of settings on a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "../plan.hpp"

namespace torchalu {

// How many GPUs there are to use, and the name of the first; throws std::runtime_error with what
// CUDA says where it answers with an error.
int gpu_count();
std::string gpu_name();

// How a GPU is shared out, which changes speed alone.
struct Shares {
  int warps = 12;          // of one multiprocessor, at most
  int kept = -1;           // features that wait in shared memory; -1: as many as fit
  std::int64_t steps = 0;  // of a launch; 0: as many as take about a fifth of a second
};

// Trains every replica of every setting, in float32, a warp each. After each launch the calling
// thread calls `poll(steps_done)`; when it answers false, training stops, its state complete.
// Returns false if it was stopped so.
bool train_on_gpu(const Team &team, const Shares &shares, const std::function<bool(std::int64_t)> &poll);

}  // namespace torchalu
