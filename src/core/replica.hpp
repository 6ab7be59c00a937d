// The training of one replica: every step, from the batch to the constraint, in one loop.
#pragma once

#include "batches.hpp"
#include "optimizer.hpp"
#include "units.hpp"

namespace torchalu::TORCHALU_ISA {

inline bool is_finite(double x) { return x - x == 0; }

template <class T> class Replica {
 public:
  Replica(const Plan &plan, void *workspace)
      : plan_(plan), arena_(workspace), rows_(padded_rows(plan.batch_size)), source_(plan, arena_, rows_),
        optimizer_(plan, arena_), layers_(arena_.take<LayerState<T>>(plan.layer_count)) {
    for (int k = 0; k < plan.layer_count; ++k) {
      const LayerState<T> state = take_layer<T>(arena_, plan.layers[k], rows_);
      if (workspace) layers_[k] = state;
    }
  }
  std::size_t bytes() const { return arena_.used(); }

  void run(int replica, Control &control) {
    const State &state = plan_.state;
    if (Status(state.status[replica]) != Status::kRunning) return;
    optimizer_.load_rules();
    exchange(replica, false);
    std::int64_t step = state.step[replica];
    std::int64_t reported = step;
    while (step < plan_.steps) {
      if (__atomic_load_n(&control.stop, __ATOMIC_RELAXED)) break;
      const double loss = train_step(replica, step);
      if (!is_finite(loss)) {
        record(replica, step, loss, __builtin_nan(""), __builtin_nan(""), __builtin_nan(""));
        state.status[replica] = std::int8_t(Status::kNaN);
        break;
      }
      ++step;
      const bool last = step == plan_.steps;
      if (step % plan_.evaluate_every == 0 || last) {
        const bool stop = evaluate(replica, step, loss);
        __atomic_fetch_add(&control.steps_done, step - reported, __ATOMIC_RELAXED);
        reported = step;
        if (stop) {
          state.status[replica] = std::int8_t(Status::kStopped);
          break;
        }
        if (last) state.status[replica] = std::int8_t(Status::kFinished);
      }
    }
    state.step[replica] = step;
    exchange(replica, true);
    __atomic_fetch_add(&control.steps_done, plan_.steps - reported, __ATOMIC_RELAXED);
  }

 private:
  // Between the caller's state and the aligned copy that the loop works on.
  void exchange(int replica, bool out) {
    const std::size_t n = std::size_t(plan_.parameter_count);
    void *const outer[] = {plan_.state.parameters, plan_.state.first_moment, plan_.state.second_moment};
    T *const inner[] = {optimizer_.parameters, optimizer_.first, optimizer_.second};
    for (int a = 0; a < 3; ++a) {
      T *theirs = static_cast<T *>(outer[a]) + replica * n;
      for (std::size_t k = 0; k < n; ++k) (out ? theirs[k] : inner[a][k]) = out ? inner[a][k] : theirs[k];
    }
  }

  Batch<const T> input_of(int layer, const Rows<T> &rows) const {
    if (layer == 0) return rows.x;
    return {layers_[layer - 1].output.data, rows_};
  }

  // The mean of the squared error over the rows that count, and its gradient by the output.
  double forward_all(const Rows<T> &rows, double row_count, bool with_gradient) {
    for (int k = 0; k < plan_.layer_count; ++k)
      forward<T>(plan_.layers[k], optimizer_.parameters + plan_.layers[k].offset, layers_[k], input_of(k, rows), rows_);
    LayerState<T> &last = layers_[plan_.layer_count - 1];
    const T scale = T(1.0 / (row_count * plan_.out_features));
    double total = 0;
    for (int o = 0; o < plan_.out_features; ++o) {
      vec<T> s = zero<T>();
      for (int r = 0; r < rows_; r += kLanes<T>) {
        const vec<T> weight = load(rows.weight + r);
        // Padding counts for nothing, even where it overflows.
        const vec<T> error = select<T>(weight != zero<T>(), load(last.output[o] + r) - load(rows.y[o] + r), zero<T>());
        const vec<T> slope = error * weight * scale;
        s += error * slope;
        if (with_gradient) store(last.grad_output[o] + r, vec<T>(slope + slope));
      }
      total += double(sum<T>(s));
    }
    return total;
  }

  double train_step(int replica, std::int64_t step) {
    const Rows<T> rows = source_.training(replica, step);
    prepare_all();
    const double loss = forward_all(rows, plan_.batch_size, true);
    if (!is_finite(loss)) return loss;
    optimizer_.clear();
    for (int k = plan_.layer_count - 1; k >= 0; --k) {
      const Batch<T> dx = k > 0 ? layers_[k - 1].grad_output : Batch<T>{};
      const int offset = plan_.layers[k].offset;
      backward<T>(plan_.layers[k], optimizer_.parameters + offset, layers_[k], input_of(k, rows), rows_, dx,
                  optimizer_.gradient + offset);
    }
    optimizer_.update(replica, step + 1);
    return loss;
  }

  void prepare_all() {
    for (int k = 0; k < plan_.layer_count; ++k)
      prepare<T>(plan_.layers[k], optimizer_.parameters + plan_.layers[k].offset, layers_[k]);
  }

  double loss_on(int replica, Stream stream) {
    const std::int64_t rows = source_.evaluation_rows();
    double total = 0;
    for (std::int64_t start = 0; start < rows; start += plan_.batch_size) {
      const std::int64_t left = rows - start;
      const int count = int(left < plan_.batch_size ? left : plan_.batch_size);
      total += forward_all(source_.evaluation(replica, stream, start, count), double(rows), false);
    }
    return total;
  }

  // Records; keeps the best parameters; true when the replica has met its goal.
  bool evaluate(int replica, std::int64_t step, double training_loss) {
    const State &state = plan_.state;
    prepare_all();
    const double validation = loss_on(replica, kValidation);
    const double extrapolation = plan_.sampled ? loss_on(replica, kExtrapolation) : __builtin_nan("");
    double sparsity = 0;
    for (int k = 0; k < plan_.layer_count; ++k) {
      const double s = sparsity_error<T>(plan_.layers[k], optimizer_.parameters + plan_.layers[k].offset, layers_[k]);
      if (s > sparsity) sparsity = s;
    }
    record(replica, step, training_loss, validation, extrapolation, sparsity);
    if (validation < state.best_validation[replica]) {
      state.best_validation[replica] = validation;
      T *best = static_cast<T *>(state.best_parameters) + std::size_t(replica) * plan_.parameter_count;
      for (int k = 0; k < plan_.parameter_count; ++k) best[k] = optimizer_.parameters[k];
    }
    state.patience[replica] = validation <= plan_.stop_below ? state.patience[replica] + 1 : 0;
    return state.patience[replica] >= plan_.stop_patience;
  }

  void record(int replica, std::int64_t step, double training, double validation, double extrapolation,
              double sparsity) {
    const State &state = plan_.state;
    const std::int32_t n = state.record_count[replica];
    if (n >= plan_.max_records) return;
    double *row = state.records + (std::size_t(replica) * plan_.max_records + n) * kRecordWidth;
    row[0] = double(step), row[1] = training, row[2] = validation, row[3] = extrapolation, row[4] = sparsity;
    state.record_count[replica] = n + 1;
  }

  const Plan &plan_;
  Arena arena_;
  int rows_;
  Source<T> source_;
  Optimizer<T> optimizer_;
  LayerState<T> *layers_;
};

}  // namespace torchalu::TORCHALU_ISA
