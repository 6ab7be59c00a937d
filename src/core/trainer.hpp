// Threads over replicas.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <new>

#include "plan.hpp"

namespace torchalu {

// Memory on a page boundary.
struct AlignedDelete {
  void operator()(void *p) const { ::operator delete(p, std::align_val_t(4096)); }
};
using Block = std::unique_ptr<void, AlignedDelete>;
Block allocate(std::size_t bytes);

// Trains every replica of every setting of the team on `threads` threads. Meanwhile the calling thread calls
// `poll(steps_done)` about ten times a second; when it answers false, every replica stops
// after its current step, its state complete. Returns false if it was stopped so.
bool train(const Team &team, bool is_double, int threads, const std::function<bool(std::int64_t)> &poll);

// The NMU operator over a batch, its rows divided among the threads.
void nmu_forward(const NMUOperands &operands, std::int64_t batch, bool is_double, int threads);
void nmu_backward(const NMUOperands &operands, void *grad_weight, std::int64_t batch, bool is_double, int threads);

}  // namespace torchalu
