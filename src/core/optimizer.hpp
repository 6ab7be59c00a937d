// One optimizer step on all parameters of a replica: penalty, clipping, Adam, constraint.
#pragma once

#include "arena.hpp"
#include "plan.hpp"
#include "simd.hpp"

namespace torchalu::TORCHALU_ISA {

template <class T> class Optimizer {
 public:
  T *parameters, *gradient, *first, *second;

  Optimizer(const Plan &plan, Arena &arena) : plan_(plan), count_(padded<T>(plan.parameter_count)) {
    T **const arrays[] = {&parameters, &gradient, &first, &second, &low_, &high_, &sparsity_, &l1_};
    for (T **array : arrays) *array = arena.take<T>(count_);
  }

  void load_rules() {
    const T infinity = T(__builtin_inf());
    for (std::size_t k = 0; k < count_; ++k) {
      const bool real = k < std::size_t(plan_.parameter_count);
      low_[k] = real ? T(plan_.rules.low[k]) : -infinity;
      high_[k] = real ? T(plan_.rules.high[k]) : infinity;
      sparsity_[k] = real ? T(plan_.rules.sparsity[k]) : T(0);
      l1_[k] = real ? T(plan_.rules.l1[k]) : T(0);
      parameters[k] = gradient[k] = first[k] = second[k] = T(0);
    }
  }

  void clear() {
    for (std::size_t k = 0; k < count_; ++k) gradient[k] = T(0);
  }

  // `step` counts from 1 here; the penalty is the one in force before the step (eq. 14 at step - 1).
  void update(int replica, std::int64_t step) {
    const Hyperparameters &h = plan_.hyper;
    add_penalty(penalty_weight(h, replica, step - 1));
    clip(h.clip_norm[replica], h.clip_value[replica]);
    const double correction1 = 1 - power(plan_.beta1, step), correction2 = 1 - power(plan_.beta2, step);
    const T size = T(h.learning_rate[replica] / correction1), scale = T(1 / __builtin_sqrt(correction2));
    const T b2 = T(plan_.beta2), eps = T(plan_.adam_eps);
    const T c1 = T(1 - plan_.beta1), c2 = T(1 - plan_.beta2);
    T *__restrict w = parameters, *__restrict m = first, *__restrict v = second;
    const T *__restrict g = gradient, *__restrict low = low_, *__restrict high = high_;
    for (std::size_t k = 0; k < count_; ++k) {
      m[k] += c1 * (g[k] - m[k]);
      v[k] = b2 * v[k] + c2 * g[k] * g[k];
      const T moved = w[k] - size * m[k] / (square_root(v[k]) * scale + eps);
      const T above = moved < low[k] ? low[k] : moved;
      w[k] = above > high[k] ? high[k] : above;
    }
  }

 private:
  // lambda_hat * clip((t - start) / (end - start), 0, 1); Madsen & Johansen eq. 14.
  static double penalty_weight(const Hyperparameters &h, int replica, std::int64_t t) {
    const double start = h.penalty_start[replica], end = h.penalty_end[replica];
    const double ramp = (double(t) - start) / (end - start);
    return h.penalty[replica] * (ramp < 0 ? 0 : ramp > 1 ? 1 : ramp);
  }

  // The gradient of weight * (sparsity min(|w|, |1 - |w||) + l1 |w|).
  void add_penalty(double weight) {
    if (weight == 0) return;
    for (std::size_t k = 0; k < count_; ++k) {
      const T w = parameters[k], magnitude = w < 0 ? -w : w;
      const T side = w > 0 ? T(1) : w < 0 ? T(-1) : T(0);
      const T other = T(1) - magnitude, distance = other < 0 ? -other : other;
      const T far = other > 0 ? T(-1) : other < 0 ? T(1) : T(0);
      const T slope = magnitude < distance ? T(1) : magnitude > distance ? far : (T(1) + far) / 2;
      gradient[k] += T(weight) * side * (sparsity_[k] * slope + l1_[k]);
    }
  }

  void clip(double norm, double value) {
    if (norm < __builtin_inf()) {
      double total = 0;
      for (std::size_t k = 0; k < count_; ++k) total += double(gradient[k]) * double(gradient[k]);
      const double factor = norm / (__builtin_sqrt(total) + 1e-6);
      if (factor < 1)
        for (std::size_t k = 0; k < count_; ++k) gradient[k] *= T(factor);
    }
    if (value < __builtin_inf())
      for (std::size_t k = 0; k < count_; ++k)
        gradient[k] = gradient[k] > T(value) ? T(value) : gradient[k] < T(-value) ? T(-value) : gradient[k];
  }

  // beta^n by squaring: the same whether a run was interrupted or not. Where 1 - beta^n rounds
  // to 1 anyway it is left out.
  static double power(double beta, std::int64_t n) {
    if (double(n) * (1 - beta) > 40) return 0;
    double result = 1;
    for (; n > 0; n >>= 1, beta *= beta)
      if (n & 1) result *= beta;
    return result;
  }

  const Plan &plan_;
  std::size_t count_;
  T *low_, *high_, *sparsity_, *l1_;
};

}  // namespace torchalu::TORCHALU_ISA
