// What a layer keeps while it is trained.
#pragma once

#include "arena.hpp"
#include "elementary.hpp"
#include "plan.hpp"
#include "products.hpp"

namespace torchalu::TORCHALU_ISA {

// Linear forms over the same batch.
template <class T> struct Forms {
  Form<T> *form = nullptr;
  int count = 0;

  // out forms with the rows of a weight (out, in).
  TORCHALU_DEVICE void add(const Layer &l, int out, const T *weight, Batch<T> value, Batch<T> slope, T *grad_weight) {
    for (int o = 0; o < out; ++o) {
      const std::ptrdiff_t row = std::ptrdiff_t(o) * l.in;
      form[count++] = {weight + row, value[o], slope[o], grad_weight + row};
    }
  }
};

// What one layer keeps between its forward and its backward pass.
template <class T> struct LayerState {
  Batch<T> output, grad_output;
  T *effective, *grad_effective, *slopes;  // effective weights that differ from the parameters
  Batch<T> logs, grad_logs, angles, grad_angles;  // (in): log magnitudes, and pi g where x < 0
  Batch<T> factors, grad_factors;  // (2 in) of an NMRU; (in): signs of an iNALU, noise of an sNMU
  Batch<T> first, grad_first;             // (out), or (2 out): a gated unit's sum, then its gate
  Batch<T> second, grad_second;           // (out): product, or angle
  Forms<T> of_input, of_logs, of_angles;
  T *scratch;                             // for products
  bool noisy;                             // an sNMU in training
};

TORCHALU_DEVICE inline bool in_log_space(Kind k) {
  return k == Kind::kNACMul || k == Kind::kNALU || k == Kind::kRealNPU || k == Kind::kNPU || k == Kind::kINALU;
}
TORCHALU_DEVICE inline bool is_gated(Kind k) { return k == Kind::kNALU || k == Kind::kGatedNAUNMU; }
TORCHALU_DEVICE inline bool has_angle(Kind k) { return k == Kind::kRealNPU || k == Kind::kNPU || k == Kind::kNMRU; }
TORCHALU_DEVICE inline bool has_factors(Kind k) { return k == Kind::kNMRU || k == Kind::kSNMU || k == Kind::kINALU; }

TORCHALU_DEVICE inline bool multiplies_logs(const Layer &l) { return l.kind == Kind::kNACMul || l.kind == Kind::kNALU; }
// Are the weights of a sum or of a product clamped where they are used, and nowhere else?
TORCHALU_DEVICE inline bool clamps_forward(const Layer &l) { return l.parametrization == Parametrization::kClampedForward; }
// Does the layer compute with weights that are not its parameters, or gather their gradients apart?
TORCHALU_DEVICE inline bool has_effective(const Layer &l) {
  if (l.kind == Kind::kLinear || l.kind == Kind::kNMU) return clamps_forward(l);
  return l.kind != Kind::kReLU && l.kind != Kind::kReLU6;
}
TORCHALU_DEVICE inline bool multiplies_factors(Kind k) {
  return k == Kind::kNMU || k == Kind::kGatedNAUNMU || has_factors(k);
}

// Are the layer's forms, and the log magnitudes of its input, those of the whole team's first
// layers? Then the layer itself only goes on from their values.
TORCHALU_DEVICE inline bool shares_forms(const Layer &l) { return l.first && !has_angle(l.kind) && !has_factors(l.kind); }

template <class T> TORCHALU_OUTLINE LayerState<T> take_layer(Arena &arena, const Layer &l, int rows) {
  LayerState<T> s{};
  const auto batch = [&](int features) { return Batch<T>{arena.take<T>(std::size_t(features) * rows), rows}; };
  const std::size_t weights = padded<T>(std::size_t(l.in) * l.out);
  s.output = batch(l.out);
  s.grad_output = batch(l.out);
  if (has_effective(l)) {
    s.effective = arena.take<T>(3 * weights);
    s.grad_effective = arena.take<T>(3 * weights);
    s.slopes = arena.take<T>(4 * weights);
  }
  if (in_log_space(l.kind) && !shares_forms(l)) s.logs = batch(l.in), s.grad_logs = batch(l.in);
  if (has_angle(l.kind)) s.angles = batch(l.in), s.grad_angles = batch(l.in);
  const int factors = l.kind == Kind::kNMRU ? 2 * l.in : l.in;
  if (has_factors(l.kind)) s.factors = batch(factors), s.grad_factors = batch(factors);
  if (in_log_space(l.kind) || is_gated(l.kind) || l.kind == Kind::kNMRU) {
    s.first = batch(2 * l.out), s.grad_first = batch(2 * l.out);
    s.second = batch(l.out), s.grad_second = batch(l.out);
  }
  Forms<T> *const all[] = {&s.of_input, &s.of_logs, &s.of_angles};
  for (Forms<T> *forms : all) forms->form = arena.take<Form<T>>(2 * l.out);
  if (multiplies_factors(l.kind)) s.scratch = arena.take<T>(product_scratch<T>(factors) * kLanes<T>);
  return s;
}

// Names the forms of a layer, whose parameters lie at p and their gradient at dp.
template <class T> TORCHALU_OUTLINE void name_forms(const Layer &l, const T *p, T *dp, LayerState<T> &s) {
  const std::size_t n = std::size_t(l.in) * l.out;
  switch (l.kind) {
    case Kind::kLinear:
      if (clamps_forward(l)) s.of_input.add(l, l.out, s.effective, s.output, s.grad_output, s.grad_effective);
      else s.of_input.add(l, l.out, p, s.output, s.grad_output, dp);
      break;
    case Kind::kNAC: s.of_input.add(l, l.out, s.effective, s.output, s.grad_output, s.grad_effective); break;
    case Kind::kNACMul: s.of_logs.add(l, l.out, s.effective, s.output, s.grad_first, s.grad_effective); break;
    case Kind::kNALU:
      s.of_input.add(l, 2 * l.out, s.effective, s.first, s.grad_first, s.grad_effective);
      s.of_logs.add(l, l.out, s.effective + 2 * n, s.second, s.grad_second, s.grad_effective + 2 * n);
      break;
    case Kind::kGatedNAUNMU:
      s.of_input.add(l, 2 * l.out, s.effective, s.first, s.grad_first, s.grad_effective);
      break;
    case Kind::kRealNPU:
      s.of_angles.add(l, l.out, p, s.second, s.grad_second, dp);
      s.of_logs.add(l, l.out, p, s.first, s.grad_first, dp);
      break;
    case Kind::kNPU:  // the imaginary weights enter the magnitude with a minus
      s.of_angles.add(l, l.out, p, s.second, s.grad_second, dp);
      s.of_angles.add(l, l.out, s.effective, s.first, s.grad_first, s.grad_effective);
      s.of_logs.add(l, l.out, p, s.first, s.grad_first, dp);
      s.of_logs.add(l, l.out, p + n, s.second, s.grad_second, dp + n);
      break;
    case Kind::kNMRU:
      s.of_angles.add(l, l.out, s.effective + 2 * n, s.second, s.grad_second, s.grad_effective + 2 * n);
      break;
    case Kind::kINALU:
      s.of_input.add(l, l.out, s.effective, s.first, s.grad_first, s.grad_effective);
      s.of_logs.add(l, l.out, s.effective + n, s.second, s.grad_second, s.grad_effective + n);
      break;
    case Kind::kNMU:
    case Kind::kSNMU:
    case Kind::kReLU:
    case Kind::kReLU6: break;
  }
}

}  // namespace torchalu::TORCHALU_ISA
