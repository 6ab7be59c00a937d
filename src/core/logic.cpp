#include "logic.hpp"

#include <algorithm>

#include "dispatch.hpp"
#include "threads.hpp"
#include "trainer.hpp"

namespace torchalu {

namespace {

std::int64_t positions(const LogicOperands &op) { return op.rows * op.groups * op.inner; }

// With one member, groups of different rows need not be told apart.
void merge_rows(LogicOperands &op) {
  if (op.member_count > 1) return;
  op.groups *= op.rows;
  op.rows = 1;
}

inline constexpr int kPartsPerThread = 4;  // so that a thread held up elsewhere holds up little

// A thread pays for itself only on enough operands.
int useful_threads(const LogicOperands &op, int threads) {
  const std::int64_t work = positions(op) * op.k * op.member_count;
  return int(std::max<std::int64_t>(1, std::min<std::int64_t>(threads, work >> 16)));
}

template <class Pass> void run(LogicOperands op, int threads, Pass Engine::*pass) {
  if (positions(op) == 0) return;
  merge_rows(op);
  const Engine &engine = current_engine();
  const std::size_t bytes = engine.logic_workspace_bytes(op);
  threads = useful_threads(op, threads);
  divide(positions(op), threads == 1 ? 1 : kPartsPerThread * threads, threads, [&](std::int64_t begin, std::int64_t end, int) {
    const Block workspace = allocate(bytes);
    (engine.*pass)(op, begin, end, workspace.get());
  });
}

}  // namespace

void logic_forward(LogicOperands op, int threads) { run(op, threads, &Engine::logic_forward); }
void logic_backward(LogicOperands op, int threads) { run(op, threads, &Engine::logic_backward); }

}  // namespace torchalu
