// One optimizer step on all parameters of a replica: penalty, clipping, Adam, constraint.
#pragma once

#include "arena.hpp"
#include "plan.hpp"
#include "simd.hpp"

namespace torchalu::TORCHALU_ISA {

template <class T> class Optimizer {
 public:
  T *parameters, *gradient, *first, *second;

  TORCHALU_DEVICE Optimizer(const Plan &plan, Arena &arena) : plan_(&plan), count_(padded<T>(plan.parameter_count)) {
    T **const arrays[] = {&parameters, &gradient, &first, &second, &low_, &high_, &sparsity_, &l1_, &l1_until_};
    for (T **array : arrays) *array = arena.take<T>(count_);
  }

  TORCHALU_OUTLINE void load_rules() {
    const T unbounded = infinity<T>();
    for_each_value(count_, [&](std::size_t k) {
      const bool real = k < std::size_t(plan_->parameter_count);
      low_[k] = real ? T(plan_->rules.low[k]) : -unbounded;
      high_[k] = real ? T(plan_->rules.high[k]) : unbounded;
      sparsity_[k] = real ? T(plan_->rules.sparsity[k]) : T(0);
      l1_[k] = real ? T(plan_->rules.l1[k]) : T(0);
      l1_until_[k] = real ? T(plan_->rules.l1_until[k]) : unbounded;
      parameters[k] = gradient[k] = first[k] = second[k] = T(0);
    });
  }

  TORCHALU_DEVICE void clear() {
    for_each_value(count_, [&](std::size_t k) { gradient[k] = T(0); });
  }

  // `step` counts from 1 here; the penalty is the one in force before the step (eq. 14 at step - 1).
  TORCHALU_OUTLINE void update(int replica, std::int64_t step) {
    const Hyperparameters &h = plan_->hyper;
    join();
    add_penalty(penalty_weight(h, replica, step - 1));
    clip(h.clip_norm[replica], h.clip_value[replica]);
    const double correction1 = 1 - power(plan_->beta1, step), correction2 = 1 - power(plan_->beta2, step);
    const T size = T(h.learning_rate[replica] / correction1), scale = T(1 / root(correction2));
    const T b2 = T(plan_->beta2), eps = T(plan_->adam_eps), c1 = T(1 - plan_->beta1), c2 = T(1 - plan_->beta2);
    for (std::size_t k = 0; k < count_; k += kLanes<T>) {
      const vec<T> g = load(gradient + k), m = load(first + k), w = load(parameters + k);
      const vec<T> moved_m = m + (g - m) * c1, v = load(second + k) * b2 + g * g * c2;
      store(first + k, moved_m);
      store(second + k, v);
      const vec<T> moved = w - moved_m * size / (square_root<T>(v) * scale + eps);
      // With the bound first, a comparison with NaN keeps the NaN.
      store(parameters + k, minimum<T>(load(high_ + k), maximum<T>(load(low_ + k), moved)));
    }
    join();
  }

 private:
  // lambda_hat * clip((t - start) / (end - start), 0, 1); Madsen & Johansen eq. 14.
  static TORCHALU_DEVICE double penalty_weight(const Hyperparameters &h, int replica, std::int64_t t) {
    const double start = h.penalty_start[replica], end = h.penalty_end[replica];
    const double ramp = (double(t) - start) / (end - start);
    return h.penalty[replica] * (ramp < 0 ? 0 : ramp > 1 ? 1 : ramp);
  }

  // The gradient of weight * (sparsity min(|w|, |1 - |w||) + l1 min(|w|, l1_until)).
  TORCHALU_DEVICE void add_penalty(double weight) {
    if (weight == 0) return;
    const T one = T(1), half = T(0.5);
    for (std::size_t k = 0; k < count_; k += kLanes<T>) {
      const vec<T> w = load(parameters + k), magnitude = absolute<T>(w), other = one - magnitude;
      const vec<T> distance = absolute<T>(other), far = -sign<T>(other);
      const vec<T> tie = (one + far) * half;
      const vec<T> slope = select<T>(magnitude < distance, broadcast(one), select<T>(magnitude > distance, far, tie));
      const vec<T> l1 = select<T>(magnitude < load(l1_until_ + k), load(l1_ + k), zero<T>());
      const vec<T> pull = sign<T>(w) * (slope * load(sparsity_ + k) + l1);
      store(gradient + k, vec<T>(load(gradient + k) + pull * T(weight)));
    }
  }

  TORCHALU_DEVICE void clip(double norm, double value) {
    if (norm < infinity<double>()) {
      double total = 0;
      join();
      for (std::size_t k = 0; k < count_; ++k) total += double(gradient[k]) * double(gradient[k]);
      const double factor = norm / (root(total) + 1e-6);
      if (factor < 1)
        for_each_value(count_, [&](std::size_t k) { gradient[k] *= T(factor); });
    }
    if (value < infinity<double>())
      for_each_value(count_, [&](std::size_t k) {
        gradient[k] = gradient[k] > T(value) ? T(value) : gradient[k] < T(-value) ? T(-value) : gradient[k];
      });
  }

  // beta^n by squaring: the same whether a run was interrupted or not. Where 1 - beta^n rounds
  // to 1 anyway it is left out.
  static TORCHALU_DEVICE double power(double beta, std::int64_t n) {
    if (double(n) * (1 - beta) > 40) return 0;
    double result = 1;
    for (; n > 0; n >>= 1, beta *= beta)
      if (n & 1) result *= beta;
    return result;
  }

  const Plan *plan_;
  std::size_t count_;
  T *low_, *high_, *sparsity_, *l1_, *l1_until_;
};

}  // namespace torchalu::TORCHALU_ISA
