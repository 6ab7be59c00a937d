// The training of one replica of one setting by a warp.
#pragma once

#include "../replica.hpp"
#include "drawn_forms.hpp"

namespace torchalu::TORCHALU_ISA {

// Rows that lie in memory, for first layers that begin with something else than linear forms.
template <class T> class StoredRows {
 public:
  TORCHALU_DEVICE static std::size_t fast_count(int, int) { return 0; }
  TORCHALU_DEVICE StoredRows(const Plan &plan, const LayerState<T> *, Arena &arena, T *, int)
      : plan_(plan), source_(Team{&plan, 1}, arena, kWarpRows) {}
  TORCHALU_DEVICE void begin(int) {}
  TORCHALU_DEVICE Rows<T> values(int replica, Stream stream, std::int64_t block, int count) {
    if (stream == kTraining) source_.training(replica, block);
    else source_.evaluation(replica, stream, block * plan_.batch_size, count);
    return source_.rows_for(plan_, replica);
  }
  TORCHALU_DEVICE void gradients() {}

 private:
  const Plan &plan_;
  Source<T> source_;
};

// How many forms a first layer has, at most, and whether they are over rows that are never stored.
template <class T, int FX, int FL> struct rows_of { using type = DrawnForms<T, FX, FL>; };
template <class T> struct rows_of<T, 0, 0> { using type = StoredRows<T>; };

template <class T, int FX, int FL> class WarpLoop {
  using Drawn = typename rows_of<T, FX, FL>::type;

 public:
  TORCHALU_DEVICE static std::size_t fast_bytes(int in, int kept) { return Drawn::fast_count(in, kept) * sizeof(T); }

  TORCHALU_DEVICE WarpLoop(const Plan &plan, void *workspace, T *fast, int kept)
      : plan_(plan), arena_(workspace), replica_(plan, arena_, kWarpRows),
        rows_(plan, replica_.layers(), arena_, fast, kept) {}
  TORCHALU_DEVICE std::size_t bytes() const { return arena_.used(); }

  // At most so many steps.
  TORCHALU_DEVICE void run(int replica, std::int64_t steps) {
    std::int64_t step = plan_.state.step[replica];
    if (!replica_.running(replica) || step >= plan_.steps) return;
    replica_.begin(replica);
    rows_.begin(replica);
    bool goes_on = true;
    for (std::int64_t k = 0; goes_on && k < steps && step < plan_.steps; ++k) {
      if (!train_step(replica, step)) break;
      ++step;
      if (step % plan_.evaluate_every == 0 || step == plan_.steps) goes_on = evaluate(replica, step);
    }
    join();
    replica_.end(replica, step);
  }

 private:
  TORCHALU_OUTLINE bool train_step(int replica, std::int64_t step) {
    replica_.prepare_weights();
    const Rows<T> rows = rows_.values(replica, kTraining, step, plan_.batch_size);
    if (!replica_.backpropagate(replica, step, rows)) return false;
    rows_.gradients();
    replica_.update(replica, step);
    return true;
  }
  TORCHALU_DEVICE bool evaluate(int replica, std::int64_t step) {
    replica_.prepare_weights();
    const double validation = loss_on(replica, kValidation), extrapolation = loss_on(replica, kExtrapolation);
    return replica_.judge(replica, step, validation, extrapolation);
  }
  TORCHALU_OUTLINE double loss_on(int replica, Stream stream) {
    const std::int64_t rows = plan_.sampled->evaluation_rows;
    double loss = 0;
    for (std::int64_t block = 0, left = rows; left > 0; ++block, left -= plan_.batch_size) {
      const int count = int(left < plan_.batch_size ? left : plan_.batch_size);
      loss += replica_.loss_on(rows_.values(replica, stream, block, count), double(rows));
    }
    return loss;
  }

  const Plan &plan_;
  Arena arena_;
  Replica<T> replica_;
  Drawn rows_;
};

}  // namespace torchalu::TORCHALU_ISA
