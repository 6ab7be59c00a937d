// Units that multiply in log space: log magnitudes, and the two neural power units.
#pragma once

#include "layer_state.hpp"

namespace torchalu::TORCHALU_ISA {

// log(|x| + eps), and its way back. The rows of a task are known to be finite.
template <class T, bool KnownFinite = false> TORCHALU_OUTLINE
inline void log_magnitude(Batch<const T> x, Batch<T> logs, int in, int rows, T eps) {
  for_each_vector<T>(in, rows, [&](int i, int r) {
    store(logs[i] + r, log<T, KnownFinite>(absolute<T>(load(x[i] + r)) + eps));
  });
}
template <class T> TORCHALU_OUTLINE
inline void add_log_magnitude_gradient(Batch<const T> x, Batch<const T> dlogs, Batch<T> dx, int in, int rows, T eps) {
  for_each_vector<T>(in, rows, [&](int i, int r) {
    const vec<T> value = load(x[i] + r);
    store(dx[i] + r, vec<T>(load(dx[i] + r) + load(dlogs[i] + r) * sign<T>(value) / (absolute<T>(value) + eps)));
  });
}

template <class T> TORCHALU_OUTLINE
void npu_forward(const Layer &l, const T *p, LayerState<T> &s, Batch<const T> x, int rows) {
  const std::size_t n = std::size_t(l.in) * l.out;
  const bool imaginary = l.kind == Kind::kNPU;
  const T *gate = p + (imaginary ? 2 : 1) * n;
  const T pi = T(3.141592653589793);
  for_each_vector<T>(l.in, rows, [&](int i, int r) {
    const vec<T> value = load(x[i] + r);
    const T g = gate[i] < T(0) ? T(0) : gate[i] > T(1) ? T(1) : gate[i];
    store(s.logs[i] + r, vec<T>(log<T>((absolute<T>(value) + T(l.eps)) * g + (T(1) - g))));
    store(s.angles[i] + r, select<T>(value < zero<T>(), broadcast(g * pi), zero<T>()));
  });
  if (imaginary)
    for_each_value(n, [&](std::size_t k) { s.effective[k] = -p[n + k]; });
  multiply<T>(s.of_angles.form, s.of_angles.count, l.in, {s.angles.data, rows}, rows);
  multiply<T>(s.of_logs.form, s.of_logs.count, l.in, {s.logs.data, rows}, rows, imaginary);
  for_each_vector<T>(l.out, rows, [&](int o, int r) {
    vec<T> sine, cosine;
    sincos<T>(load(s.second[o] + r), sine, cosine);
    const vec<T> magnitude = exp<T>(load(s.first[o] + r));
    store(s.output[o] + r, vec<T>(magnitude * cosine));
    store(s.second[o] + r, vec<T>(-(magnitude * sine)));  // the derivative by the angle
  });
}

template <class T> TORCHALU_OUTLINE
void npu_backward(const Layer &l, const T *p, LayerState<T> &s, Batch<const T> x, int rows, Batch<T> dx, T *dp) {
  const std::size_t n = std::size_t(l.in) * l.out;
  const bool imaginary = l.kind == Kind::kNPU;
  const T *gate = p + (imaginary ? 2 : 1) * n;
  T *dgate = dp + (imaginary ? 2 : 1) * n;
  const T pi = T(3.141592653589793);
  for_each_vector<T>(l.out, rows, [&](int o, int r) {
    const vec<T> g = load(s.grad_output[o] + r);
    store(s.grad_first[o] + r, vec<T>(g * load(s.output[o] + r)));
    store(s.grad_second[o] + r, vec<T>(g * load(s.second[o] + r)));
  });
  fill_zero(s.grad_effective, imaginary ? n : 0);
  add_outer<T>(s.of_logs.form, s.of_logs.count, l.in, {s.logs.data, rows}, rows);
  add_outer<T>(s.of_angles.form, s.of_angles.count, l.in, {s.angles.data, rows}, rows);
  for_each_value(imaginary ? n : 0, [&](std::size_t k) { dp[n + k] -= s.grad_effective[k]; });
  fill_zero(s.grad_logs, l.in, rows);
  fill_zero(s.grad_angles, l.in, rows);
  add_transposed<T>(s.of_logs.form, s.of_logs.count, l.in, s.grad_logs, rows);
  add_transposed<T>(s.of_angles.form, s.of_angles.count, l.in, s.grad_angles, rows);
  for (int i = 0; i < l.in; ++i) {
    const T g = gate[i] < T(0) ? T(0) : gate[i] > T(1) ? T(1) : gate[i];
    vec<T> total = zero<T>();
    for (int r = 0; r < rows; r += kLanes<T>) {
      const vec<T> value = load(x[i] + r), magnitude = absolute<T>(value) + T(l.eps);
      const vec<T> dr = load(s.grad_logs[i] + r) / (magnitude * g + (T(1) - g));
      total += dr * (magnitude - T(1));
      total += select<T>(value < zero<T>(), load(s.grad_angles[i] + r) * pi, zero<T>());
      if (dx.data) store(dx[i] + r, vec<T>(load(dx[i] + r) + dr * sign<T>(value) * g));
    }
    if (gate[i] >= T(0) && gate[i] <= T(1)) add_sum<T>(total, dgate + i);
  }
}

}  // namespace torchalu::TORCHALU_ISA
