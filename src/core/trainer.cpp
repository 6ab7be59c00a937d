#include "trainer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "dispatch.hpp"
#include "threads.hpp"

namespace torchalu {

Block allocate(std::size_t bytes) {
  return Block(::operator new(std::max<std::size_t>(bytes, 1), std::align_val_t(4096)));
}

bool train(const Team &team, bool is_double, int threads, const std::function<bool(std::int64_t)> &poll) {
  const Engine &engine = current_engine();
  const std::size_t bytes = engine.workspace_bytes(team, is_double);
  const int replicas = team.plans[0].replicas;
  threads = std::max(1, std::min(threads, replicas));
  std::vector<Block> workspaces;
  for (int t = 0; t < threads; ++t) workspaces.push_back(allocate(bytes));

  Control control;
  std::atomic<int> next{0};
  std::mutex mutex;
  std::condition_variable finished;
  int running = threads;
  const auto work = [&](void *workspace) {
    for (int r = next++; r < replicas; r = next++) {
      if (__atomic_load_n(&control.stop, __ATOMIC_RELAXED)) break;
      engine.train_replica(team, r, workspace, control, is_double);
    }
    const std::lock_guard lock(mutex);
    --running;
    finished.notify_one();
  };
  std::vector<std::thread> pool;
  pool.reserve(threads);
  for (int t = 0; t < threads; ++t) {
    try {
      pool.emplace_back(work, workspaces[t].get());
    } catch (const std::system_error &) {  // the system gives no more: those that run do all
      if (pool.empty()) throw;
      const std::lock_guard lock(mutex);
      running -= threads - t;
      break;
    }
  }

  bool completed = true;
  {
    std::unique_lock lock(mutex);
    while (!finished.wait_for(lock, std::chrono::milliseconds(100), [&] { return running == 0; })) {
      lock.unlock();
      if (completed && !poll(__atomic_load_n(&control.steps_done, __ATOMIC_RELAXED))) {
        completed = false;
        __atomic_store_n(&control.stop, 1, __ATOMIC_RELAXED);
      }
      lock.lock();
    }
  }
  for (std::thread &t : pool) t.join();
  return completed;
}

namespace {

// A thread pays for itself only on enough multiplications.
int useful_threads(const NMUOperands &op, std::int64_t batch, int threads) {
  const std::int64_t work = batch * op.in * op.out;
  return int(std::max<std::int64_t>(1, std::min<std::int64_t>(threads, std::min<std::int64_t>(batch, work >> 20))));
}

}  // namespace

void nmu_forward(const NMUOperands &op, std::int64_t batch, bool is_double, int threads) {
  const Engine &engine = current_engine();
  const std::size_t bytes = engine.nmu_workspace_bytes(op.in, op.out, is_double);
  threads = useful_threads(op, batch, threads);
  divide(batch, threads, threads, [&](std::int64_t begin, std::int64_t end, int) {
    const Block workspace = allocate(bytes);
    engine.nmu_forward(op, begin, end, workspace.get(), is_double);
  });
}

void nmu_backward(const NMUOperands &op, void *grad_weight, std::int64_t batch, bool is_double, int threads) {
  const Engine &engine = current_engine();
  const std::size_t bytes = engine.nmu_workspace_bytes(op.in, op.out, is_double);
  const std::size_t count = std::size_t(op.in) * op.out, size = is_double ? sizeof(double) : sizeof(float);
  threads = useful_threads(op, batch, threads);
  std::vector<std::vector<char>> shares(threads - 1, std::vector<char>(count * size, 0));
  divide(batch, threads, threads, [&](std::int64_t begin, std::int64_t end, int t) {
    const Block workspace = allocate(bytes);
    engine.nmu_backward(op, begin, end, t == 0 ? grad_weight : shares[t - 1].data(), workspace.get(), is_double);
  });
  for (const std::vector<char> &share : shares)
    for (std::size_t k = 0; k < count; ++k) {
      if (is_double) static_cast<double *>(grad_weight)[k] += reinterpret_cast<const double *>(share.data())[k];
      else static_cast<float *>(grad_weight)[k] += reinterpret_cast<const float *>(share.data())[k];
    }
}

}  // namespace torchalu
