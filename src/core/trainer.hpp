// Threads over replicas.
#pragma once

#include <functional>

#include "plan.hpp"

namespace torchalu {

// Trains every replica of the plan on `threads` threads. Meanwhile the calling thread calls
// `poll(steps_done)` about ten times a second; when it answers false, every replica stops
// after its current step, its state complete. Returns false if it was stopped so.
bool train(const Plan &plan, bool is_double, int threads, const std::function<bool(std::int64_t)> &poll);

// The NMU operator over a batch, its rows divided among the threads.
void nmu_forward(const NMUOperands &operands, std::int64_t batch, bool is_double, int threads);
void nmu_backward(const NMUOperands &operands, void *grad_weight, std::int64_t batch, bool is_double, int threads);

}  // namespace torchalu
