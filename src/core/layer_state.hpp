// What a layer keeps while it is trained.
#pragma once

#include "arena.hpp"
#include "elementary.hpp"
#include "plan.hpp"
#include "products.hpp"

namespace torchalu::TORCHALU_ISA {

// What one layer keeps between its forward and its backward pass.
template <class T> struct LayerState {
  Batch<T> output, grad_output;
  T *effective, *grad_effective, *slopes;  // effective weights that differ from the parameters
  Batch<T> logs, grad_logs, angles, grad_angles;  // (in): log magnitudes, and pi g where x < 0;
                                                  // logs as `reads_shared_logs` says
  Batch<T> first, grad_first;             // (out), or (2 out) for a gated unit: sum, then gate
  Batch<T> second, grad_second;           // (out): product, or angle
  vec<T> *scratch;                        // for products
};

inline bool in_log_space(Kind k) {
  return k == Kind::kNACMul || k == Kind::kNALU || k == Kind::kRealNPU || k == Kind::kNPU;
}
inline bool is_gated(Kind k) { return k == Kind::kNALU || k == Kind::kGatedNAUNMU; }
inline bool has_angle(Kind k) { return k == Kind::kRealNPU || k == Kind::kNPU; }

// Does the layer take the log magnitudes of its input from the source of the batches, which forms
// them once for all settings of a team?
inline bool reads_shared_logs(const Layer &l) {
  return l.first && (l.kind == Kind::kNACMul || l.kind == Kind::kNALU);
}

template <class T> LayerState<T> take_layer(Arena &arena, const Layer &l, int rows) {
  LayerState<T> s{};
  const auto batch = [&](int features) { return Batch<T>{arena.take<T>(std::size_t(features) * rows), rows}; };
  const std::size_t weights = padded<T>(std::size_t(l.in) * l.out);
  s.output = batch(l.out);
  s.grad_output = batch(l.out);
  s.effective = arena.take<T>(3 * weights);
  s.grad_effective = arena.take<T>(3 * weights);
  s.slopes = arena.take<T>(4 * weights);
  if (in_log_space(l.kind) && !reads_shared_logs(l)) s.logs = batch(l.in), s.grad_logs = batch(l.in);
  if (has_angle(l.kind)) s.angles = batch(l.in), s.grad_angles = batch(l.in);
  if (in_log_space(l.kind) || is_gated(l.kind)) {
    s.first = batch(2 * l.out), s.grad_first = batch(2 * l.out);
    s.second = batch(l.out), s.grad_second = batch(l.out);
  }
  s.scratch = arena.take<vec<T>>(product_scratch<T>(l.in));
  return s;
}

}  // namespace torchalu::TORCHALU_ISA
