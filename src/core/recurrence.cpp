#include "recurrence.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "dispatch.hpp"
#include "recurrence_groups.hpp"
#include "relay.hpp"
#include "threads.hpp"
#include "trainer.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace torchalu {

namespace {

inline constexpr std::int64_t kFewestPositions = 64, kMostPositions = 256;  // of a call

std::int64_t divided_up(std::int64_t count, std::int64_t by) { return (count + by - 1) / by; }

// What all threads look at before each part of the work; the one that calls asks now and then.
class Breaks {
 public:
  explicit Breaks(const Interrupted &interrupted) : interrupted_(interrupted) {}
  bool asked() {
    if (broken_.load(std::memory_order_relaxed)) return true;
    if (std::this_thread::get_id() != caller_ || ++parts_ % kPartsBetween) return false;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return false;
    next_ = now + kBetween;
    if (interrupted_()) broken_.store(true, std::memory_order_relaxed);
    return broken_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned kPartsBetween = 16;  // the clock costs more than the smallest parts
  static constexpr std::chrono::milliseconds kBetween{50};
  const Interrupted &interrupted_;
  const std::thread::id caller_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kBetween;
  unsigned parts_ = 0;
  std::atomic<bool> broken_{false};
};

class Run {
 public:
  Run(const RecurrenceOperands &op, int threads, const Interrupted &interrupted)
      : op_(op), engine_(current_engine()), groups_(op), threads_(useful_threads(threads)), breaks_(interrupted) {
    const RecurrenceGroup none{};
    const RecurrenceSizes sizes = engine_.recurrence_sizes(op, none);
    packed_ = zeros(sizes.packed);
    engine_.recurrence_pack(op, packed_.get());
    if (op.grad_state) gradient_bytes_ = sizes.gradient;
  }

  std::size_t kept() const { return std::size_t(groups_.kept()); }  // numbers
  void all() {
    if (groups_.long_sequences()) run_long();
    else run_batch();
    if (!op_.grad_state) return;
    if (gradients_.empty()) gradients_.push_back(zeros(gradient_bytes_));
    std::vector<void *> blocks;
    for (const Block &block : gradients_) blocks.push_back(block.get());
    engine_.recurrence_unpack(op_, blocks.data(), int(blocks.size()));
  }

 private:
  static Block zeros(std::size_t bytes) {
    Block block = allocate(bytes);
    std::memset(block.get(), 0, bytes);
    return block;
  }

  // A thread pays for itself only on enough multiplications.
  int useful_threads(int threads) const {
    const RecurrenceShape &s = op_.shape;
    const double cell = 3.0 * s.maps * s.maps * s.kernel_length * s.kernel_width * s.layers;
    double work = 0;
    for (const RecurrenceGroup &group : groups_.all())
      for (std::int64_t t = 0; t < group.step_count; ++t) work += cell * s.width * double(group.steps[t].positions);
    return int(std::max(1.0, std::min<double>(threads, work / 1e6)));
  }

  // Parts of about the same work: each group, the most work first, goes where the least is.
  std::vector<std::vector<std::size_t>> shared_out() const {
    const auto &groups = groups_.all();
    std::vector<double> work(groups.size(), 0.0);
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (std::int64_t t = 0; t < groups[g].step_count; ++t) work[g] += double(groups[g].steps[t].positions);
    std::vector<std::size_t> order(groups.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return work[a] > work[b]; });
    std::vector<std::vector<std::size_t>> parts(std::min<std::size_t>(kParts, groups.size()));
    std::vector<double> load(parts.size(), 0.0);
    for (std::size_t g : order) {
      const std::size_t least = std::min_element(load.begin(), load.end()) - load.begin();
      parts[least].push_back(g);
      load[least] += work[g];
    }
    return parts;
  }

  void run_batch() {
    const std::vector<std::vector<std::size_t>> parts = shared_out();
    gradients_.resize(op_.grad_state ? parts.size() : 0);
    divide(std::int64_t(parts.size()), int(parts.size()), threads_, [&](std::int64_t, std::int64_t, int k) {
      void *gradient = nullptr;
      if (op_.grad_state) gradient = (gradients_[k] = zeros(gradient_bytes_)).get();
      for (std::size_t g : parts[k]) run_alone(groups_.all()[g], gradient);
    });
  }
  void run_alone(const RecurrenceGroup &group, void *gradient) {
    const Block workspace = zeros(engine_.recurrence_sizes(op_, group).workspace);
    std::vector<double> saturation(group.sequence_count, 0.0);
    const RecurrenceMemory memory{packed_.get(), workspace.get(), gradient, saturation.data()};
    const RecurrencePhases phases(op_, group);
    for (std::int64_t k = 0; k < phases.count(); ++k) {
      RecurrencePart part = phases[k];
      for (const std::int64_t end = part.end; part.begin < end; part.begin = part.end) {
        if (breaks_.asked()) return;
        part.end = std::min(end, part.begin + kMostPositions);
        engine_.recurrence_run(op_, group, part, memory);
      }
    }
    add_saturation(group, saturation);
  }

  // One group after the other, its positions divided among the threads.
  void run_long() {
    gradients_.resize(op_.grad_state ? kParts : 0);
    for (Block &block : gradients_) block = zeros(gradient_bytes_);
    for (const RecurrenceGroup &group : groups_.all()) run_together(group);
  }
  void run_together(const RecurrenceGroup &group) {
    const Block workspace = zeros(engine_.recurrence_sizes(op_, group).workspace);
    const std::size_t count = std::size_t(group.sequence_count);
    std::vector<double> saturation(kParts * count, 0.0);
    const RecurrencePhases phases(op_, group);
    const auto span = [](std::int64_t positions) {
      return aligned(divided_up(positions, std::min<std::int64_t>(kParts, divided_up(positions, kFewestPositions))));
    };
    relay(
        phases.count(), threads_,
        [&](std::int64_t k) {
          const std::int64_t positions = phases[k].end;
          return int(divided_up(positions, span(positions)));
        },
        [&](std::int64_t k, int number) {
          if (breaks_.asked()) return;
          RecurrencePart part = phases[k];
          const std::int64_t size = span(part.end);
          part.begin = number * size, part.end = std::min(part.end, part.begin + size);
          void *gradient = gradients_.empty() ? nullptr : gradients_[number].get();
          engine_.recurrence_run(op_, group, part,
                                 {packed_.get(), workspace.get(), gradient, saturation.data() + number * count});
        });
    add_saturation(group, saturation);
  }

  void add_saturation(const RecurrenceGroup &group, const std::vector<double> &saturation) const {
    if (op_.grad_state) return;
    for (std::size_t k = 0; k < saturation.size(); ++k)
      op_.saturation[group.sequences[k % group.sequence_count].number] += saturation[k];
  }

  const RecurrenceOperands &op_;
  const Engine &engine_;
  const RecurrenceGroups groups_;
  const int threads_;
  Breaks breaks_;
  Block packed_;
  std::size_t gradient_bytes_ = 0;
  std::vector<Block> gradients_;
};

// What needs no step: zeros behind the ends, and sequences that stay as they are.
void copy_rest(const RecurrenceOperands &op, const void *from, void *to) {
  const std::size_t row = std::size_t(op.shape.width) * op.shape.maps * (op.is_double ? sizeof(double) : sizeof(float));
  for (std::int64_t b = 0; b < op.batch; ++b) {
    const std::size_t start = std::size_t(b * op.length) * row, used = std::size_t(op.lengths[b]) * row;
    char *out = static_cast<char *>(to) + start;
    if (op.steps[b] <= 0) std::memcpy(out, static_cast<const char *>(from) + start, used);
    std::memset(out + used, 0, std::size_t(op.length) * row - used);
  }
}

// Asks for large pages: first touching hundreds of megabytes of small ones costs as much as a third
// of the forward pass.
void prefer_large_pages([[maybe_unused]] void *memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kPage = std::uintptr_t(2) << 20;
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + kPage - 1) / kPage * kPage;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / kPage * kPage;
  if (begin < end) madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);  // a wish: it may fail
#endif
}

std::uint32_t scrambled(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x21f0aaadu;
  x = (x ^ (x >> 15)) * 0x735a2d97u;
  return x ^ (x >> 15);
}

}  // namespace

void recurrence_forward(const RecurrenceOperands &op, int threads, const Interrupted &interrupted) {
  std::fill_n(op.saturation, op.batch, 0.0);
  copy_rest(op, op.state, op.output);
  Run run(op, threads, interrupted);
  if (op.kept) prefer_large_pages(op.kept, run.kept() * (op.is_double ? sizeof(double) : sizeof(float)));
  run.all();
}

void recurrence_backward(const RecurrenceOperands &op, int threads, const Interrupted &interrupted) {
  copy_rest(op, op.grad_output, op.grad_state);
  Run(op, threads, interrupted).all();
}

std::int64_t recurrence_kept(const RecurrenceOperands &op) { return RecurrenceGroups(op).kept(); }

std::uint32_t recurrence_key(std::uint64_t seed) {
  return scrambled(std::uint32_t(seed) ^ scrambled(std::uint32_t(seed >> 32)));
}

}  // namespace torchalu
