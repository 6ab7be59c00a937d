// One setting of a team: its network, its optimizer, and how it is judged.
#pragma once

#include "batches.hpp"
#include "optimizer.hpp"
#include "units.hpp"

namespace torchalu::TORCHALU_ISA {

TORCHALU_DEVICE inline bool is_finite(double x) { return x - x == 0; }

template <class T> class Replica {
 public:
  TORCHALU_DEVICE Replica(const Plan &plan, Arena &arena, int rows)
      : plan_(&plan), rows_(rows), optimizer_(plan, arena), layers_(arena.take<LayerState<T>>(plan.layer_count)) {
    for (int k = 0; k < plan.layer_count; ++k) {
      LayerState<T> state = take_layer<T>(arena, plan.layers[k], rows_);
      if (!layers_) continue;
      const int offset = plan.layers[k].offset;
      name_forms<T>(plan.layers[k], optimizer_.parameters + offset, optimizer_.gradient + offset, state);
      layers_[k] = state;
    }
  }

  TORCHALU_DEVICE const Plan &plan() const { return *plan_; }
  TORCHALU_DEVICE const LayerState<T> *layers() const { return layers_; }
  TORCHALU_DEVICE bool running(int replica) const { return Status(plan_->state.status[replica]) == Status::kRunning; }

  TORCHALU_DEVICE void begin(int replica) {
    optimizer_.load_rules();
    exchange(replica, false);
  }
  TORCHALU_DEVICE void end(int replica, std::int64_t step) {
    plan_->state.step[replica] = step;
    exchange(replica, true);
  }

  // From the values of the first layer's forms to their slopes, at the step of this number, counted
  // from 0. False where the loss is not finite: the run ends, its parameters as they were.
  TORCHALU_DEVICE bool backpropagate(int replica, std::int64_t step, const Rows<T> &rows) {
    draw_noise(replica, step);
    training_loss_ = forward_all(rows, plan_->batch_size, true);
    if (!is_finite(training_loss_)) {
      if (leads()) {
        const double nan = not_a_number();
        record(replica, step, nan, nan, nan);
        plan_->state.status[replica] = std::int8_t(Status::kNaN);
      }
      return false;
    }
    optimizer_.clear();
    for (int k = plan_->layer_count - 1; k >= 0; --k) {
      const Batch<T> dx = k > 0 ? layers_[k - 1].grad_output : Batch<T>{};
      const int offset = plan_->layers[k].offset;
      backward<T>(plan_->layers[k], optimizer_.parameters + offset, layers_[k], input_of(k, rows), rows_, dx,
                  optimizer_.gradient + offset);
    }
    return true;
  }
  // The optimizer's part of that step, after the gradients of the first layer's forms.
  TORCHALU_DEVICE void update(int replica, std::int64_t step) {
    for (int k = 0; k < plan_->layer_count; ++k)
      finish_gradient<T>(plan_->layers[k], layers_[k], optimizer_.gradient + plan_->layers[k].offset);
    optimizer_.update(replica, step + 1);
  }

  // Before a step, and before the first batch of an evaluation.
  TORCHALU_DEVICE void prepare_weights() {
    for (int k = 0; k < plan_->layer_count; ++k)
      prepare<T>(plan_->layers[k], optimizer_.parameters + plan_->layers[k].offset, layers_[k]);
  }
  // A batch's share in the mean loss over `row_count` rows, from the values of the first forms.
  TORCHALU_DEVICE double loss_on(const Rows<T> &rows, double row_count) { return forward_all(rows, row_count, false); }

  // Records; keeps the best parameters; says whether the run goes on.
  TORCHALU_OUTLINE bool judge(int replica, std::int64_t step, double validation, double extrapolation) {
    double sparsity = 0;
    for (int k = 0; k < plan_->layer_count; ++k) {
      const double s = sparsity_error<T>(plan_->layers[k], optimizer_.parameters + plan_->layers[k].offset, layers_[k]);
      if (s > sparsity) sparsity = s;
    }
    if (validation < plan_->state.best_validation[replica]) {
      T *best = static_cast<T *>(plan_->state.best_parameters) + std::size_t(replica) * plan_->parameter_count;
      for_each_value(plan_->parameter_count, [&](std::size_t k) { best[k] = optimizer_.parameters[k]; });
    }
    join();
    if (leads()) settle(replica, step, validation, extrapolation, sparsity);
    join();
    return running(replica);
  }

 private:
  TORCHALU_DEVICE void settle(int replica, std::int64_t step, double validation, double extrapolation, double sparsity) {
    const State &state = plan_->state;
    record(replica, step, validation, extrapolation, sparsity);
    if (validation < state.best_validation[replica]) {
      state.best_validation[replica] = validation;
      state.best_extrapolation[replica] = extrapolation;
    }
    if (validation < 0.99 * state.improved_to[replica]) {
      state.improved_to[replica] = validation;
      state.improved_at[replica] = step;
    }
    if (met_goal(replica, validation) || is_settled(replica, step)) state.status[replica] = std::int8_t(Status::kStopped);
    else if (step == plan_->steps)
      state.status[replica] = std::int8_t(is_finite(validation) ? Status::kFinished : Status::kNaN);
  }

  TORCHALU_DEVICE bool met_goal(int replica, double validation) {
    std::int32_t &patience = plan_->state.patience[replica];
    patience = validation <= plan_->stop_below ? patience + 1 : 0;
    return patience >= plan_->stop_patience;
  }

  // The penalty is whole, and for long enough since then nothing has improved.
  TORCHALU_DEVICE bool is_settled(int replica, std::int64_t step) const {
    const State &state = plan_->state;
    const bool solved = state.best_extrapolation[replica] < plan_->goal;
    const double ramp_end = plan_->hyper.penalty[replica] > 0 ? plan_->hyper.penalty_end[replica] : 0;
    const double improved = double(state.improved_at[replica]), since = improved > ramp_end ? improved : ramp_end;
    return double(step) - since >= double(solved ? plan_->settle : plan_->stall);
  }

  // Between the caller's state and the aligned copy that the loop works on.
  TORCHALU_OUTLINE void exchange(int replica, bool out) {
    const std::size_t n = std::size_t(plan_->parameter_count);
    void *const outer[] = {plan_->state.parameters, plan_->state.first_moment, plan_->state.second_moment};
    T *const inner[] = {optimizer_.parameters, optimizer_.first, optimizer_.second};
    for (int a = 0; a < 3; ++a) {
      T *theirs = static_cast<T *>(outer[a]) + replica * n;
      for_each_value(n, [&](std::size_t k) { (out ? theirs[k] : inner[a][k]) = out ? inner[a][k] : theirs[k]; });
    }
  }

  TORCHALU_DEVICE Batch<const T> input_of(int layer, const Rows<T> &rows) const {
    if (layer == 0) return rows.x;
    return {layers_[layer - 1].output.data, rows_};
  }

  TORCHALU_DEVICE void draw_noise(int replica, std::int64_t step) {
    for (int k = 0; k < plan_->layer_count; ++k) {
      const Layer &l = plan_->layers[k];
      if (l.kind != Kind::kSNMU) continue;
      const std::uint64_t key =
          mix(plan_->seed, plan_->replica_ids[replica], kUnitStream * std::uint64_t(1 + k), std::uint64_t(step));
      draw_uniform<T>(key, {l.low, l.high, 0, 1, false}, std::ptrdiff_t(l.in) * rows_, layers_[k].factors.data);
    }
  }

  // The mean of the squared error over the rows that count, and its gradient by the output.
  TORCHALU_OUTLINE double forward_all(const Rows<T> &rows, double row_count, bool with_gradient) {
    for (int k = 0; k < plan_->layer_count; ++k) {
      layers_[k].noisy = with_gradient;
      forward<T>(plan_->layers[k], optimizer_.parameters + plan_->layers[k].offset, layers_[k], input_of(k, rows), rows_);
    }
    LayerState<T> &last = layers_[plan_->layer_count - 1];
    const T scale = T(1.0 / (row_count * plan_->out_features));
    double total = 0;
    for (int o = 0; o < plan_->out_features; ++o) {
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

  TORCHALU_DEVICE void record(int replica, std::int64_t step, double validation, double extrapolation, double sparsity) {
    const State &state = plan_->state;
    const std::int32_t n = state.record_count[replica];
    if (n >= plan_->max_records) return;
    double *row = state.records + (std::size_t(replica) * plan_->max_records + n) * kRecordWidth;
    row[0] = double(step), row[1] = training_loss_, row[2] = validation, row[3] = extrapolation, row[4] = sparsity;
    state.record_count[replica] = n + 1;
  }

  const Plan *plan_;
  int rows_;
  Optimizer<T> optimizer_;
  LayerState<T> *layers_;
  double training_loss_ = 0;
};

}  // namespace torchalu::TORCHALU_ISA
