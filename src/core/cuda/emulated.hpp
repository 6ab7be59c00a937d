// The GPU's loop on the CPU, a vector of 32 numbers for a warp: slow, and for tests alone.
#pragma once

#include "../plan.hpp"

namespace torchalu {

// Trains every replica, `steps` steps at a time, as launches do; `kept` features wait in fast memory.
void train_emulated(const Team &team, std::int64_t steps, int kept);

}  // namespace torchalu
