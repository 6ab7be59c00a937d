#include "relay.hpp"

#include <atomic>
#include <thread>

#include "threads.hpp"

namespace torchalu {

namespace {

inline constexpr int kSpins = 4000;  // some ten microseconds, more than a part's end is away

inline void pause() {
#if defined(__x86_64__) || defined(_M_X64)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace

void relay(std::int64_t phases, int threads, const std::function<int(std::int64_t)> &parts,
           const std::function<void(std::int64_t, int)> &work) {
  std::atomic<std::uint64_t> next{0};  // the phase, and in the lower half its next part
  std::atomic<int> done{0};
  const auto take_parts = [&] {
    int waited = 0;
    for (std::uint64_t ticket = next.load(std::memory_order_acquire);;) {
      const auto phase = std::int64_t(ticket >> 32);
      if (phase >= phases) return;
      const int part = int(ticket & 0xffffffffu), count = parts(phase);
      if (part == count) {
        if (++waited < kSpins) pause();
        else std::this_thread::yield();
        ticket = next.load(std::memory_order_acquire);
      } else if (next.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel)) {
        work(phase, part);
        waited = 0;
        if (done.fetch_add(1, std::memory_order_acq_rel) + 1 == count) {
          done.store(0, std::memory_order_relaxed);
          next.store(std::uint64_t(phase + 1) << 32, std::memory_order_release);
        }
        ticket = next.load(std::memory_order_acquire);
      }
    }
  };
  divide(threads, threads, threads, [&](std::int64_t, std::int64_t, int) { take_parts(); });
}

}  // namespace torchalu
