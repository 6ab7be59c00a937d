// The arithmetic of each unit, forward and backward, on a batch of features by rows.
//
// Written once; the trainer and the operators both use it. Equations and sources stand in
// the Python modules torchalu.functional, whose bodies define what these must equal.
#pragma once

#include "factor_units.hpp"

namespace torchalu::TORCHALU_ISA {

// z = g a + h m with g = sigmoid(G x), h = 1 - g = sigmoid(-G x), which keeps its digits where g
// is near 1. `first` holds a, then G x, which becomes g; h waits in the second half of grad_first.
template <class T> TORCHALU_OUTLINE void mix_forward(const Layer &l, LayerState<T> &s, int rows) {
  for_each_vector<T>(l.out, rows, [&](int o, int r) {
    const vec<T> a = load(s.first[o] + r), m = load(s.second[o] + r), x = load(s.first[l.out + o] + r);
    vec<T> g, h;
    sigmoids<T>(x, g, h);
    store(s.first[l.out + o] + r, g);
    store(s.grad_first[l.out + o] + r, h);
    store(s.output[o] + r, vec<T>(g * a + h * m));
  });
}
template <class T> TORCHALU_OUTLINE void mix_backward(const Layer &l, LayerState<T> &s, int rows) {
  for_each_vector<T>(l.out, rows, [&](int o, int r) {
    const vec<T> a = load(s.first[o] + r), m = load(s.second[o] + r), g = load(s.first[l.out + o] + r);
    const vec<T> h = load(s.grad_first[l.out + o] + r), d = load(s.grad_output[o] + r);
    store(s.grad_first[o] + r, vec<T>(d * g));
    store(s.grad_first[l.out + o] + r, vec<T>(d * (a - m) * g * h));
    store(s.grad_second[o] + r, vec<T>(d * h));
  });
}

template <class T> TORCHALU_DEVICE
inline void exponential(Batch<T> b, int features, int rows) {
  for_each_vector<T>(features, rows, [&](int o, int r) { store(b[o] + r, vec<T>(exp<T>(load(b[o] + r)))); });
}

template <class T> TORCHALU_OUTLINE
void forward(const Layer &l, const T *p, LayerState<T> &s, Batch<const T> x, int rows) {
  const std::size_t n = std::size_t(l.in) * l.out;
  if (!shares_forms(l)) {
    multiply<T>(s.of_input.form, s.of_input.count, l.in, x, rows);
    if (multiplies_logs(l)) {
      log_magnitude<T>(x, s.logs, l.in, rows, T(l.eps));
      multiply<T>(s.of_logs.form, s.of_logs.count, l.in, {s.logs.data, rows}, rows);
    }
  }
  switch (l.kind) {
    case Kind::kLinear:
      if (l.bias)
        for_each_vector<T>(l.out, rows, [&](int o, int r) { store(s.output[o] + r, load(s.output[o] + r) + p[n + o]); });
      break;
    case Kind::kSNMU:
      if (s.noisy) {
        stochastic_forward(l, p, s, x, rows);
        break;
      }
      [[fallthrough]];
    case Kind::kNMU: product_forward<T>(clamps_forward(l) ? s.effective : p, l.in, l.out, x, s.output, rows, s.scratch); break;
    case Kind::kNMRU: nmru_forward(l, s, x, rows); break;
    case Kind::kINALU: inalu_forward(l, p, s, x, rows); break;
    case Kind::kNAC: break;
    case Kind::kNACMul: exponential(s.output, l.out, rows); break;
    case Kind::kNALU:
      exponential(s.second, l.out, rows);
      mix_forward(l, s, rows);
      break;
    case Kind::kGatedNAUNMU:
      product_forward<T>(p + n, l.in, l.out, x, s.second, rows, s.scratch);
      mix_forward(l, s, rows);
      break;
    case Kind::kRealNPU:
    case Kind::kNPU: npu_forward(l, p, s, x, rows); break;
    case Kind::kReLU:
    case Kind::kReLU6: {
      const vec<T> top = broadcast(l.kind == Kind::kReLU ? infinity<T>() : T(6));
      for_each_vector<T>(l.out, rows, [&](int o, int r) {
        const vec<T> v = load(x[o] + r);
        store(s.output[o] + r, select<T>(v > top, top, select<T>(v < zero<T>(), zero<T>(), v)));
      });
      break;
    }
  }
}

// Adds to dp the gradient by the parameters, save for what `finish_gradient` carries there, and,
// where dx is present, writes dx.
template <class T> TORCHALU_OUTLINE
void backward(const Layer &l, const T *p, LayerState<T> &s, Batch<const T> x, int rows, Batch<T> dx, T *dp) {
  const std::size_t n = std::size_t(l.in) * l.out;
  const Batch<const T> dz{s.grad_output.data, rows};
  if (dx.data) fill_zero(dx, l.in, rows);
  const bool one = l.kind == Kind::kNAC || l.kind == Kind::kNACMul || clamps_forward(l);
  fill_zero(s.grad_effective, one ? n : is_gated(l.kind) || has_factors(l.kind) ? 3 * n : 0);
  switch (l.kind) {
    case Kind::kLinear:
      if (l.bias)
        for (int o = 0; o < l.out; ++o) {
          vec<T> total = zero<T>();
          for (int r = 0; r < rows; r += kLanes<T>) total += load(dz[o] + r);
          add_sum<T>(total, dp + n + o);
        }
      break;
    case Kind::kNMU:
      if (clamps_forward(l)) product_backward<T>(s.effective, l.in, l.out, x, dz, rows, dx, s.grad_effective, s.scratch);
      else product_backward<T>(p, l.in, l.out, x, dz, rows, dx, dp, s.scratch);
      break;
    case Kind::kSNMU: stochastic_backward(l, p, s, x, rows, dx, dp); break;
    case Kind::kNMRU: nmru_backward(l, s, x, rows, dx); break;
    case Kind::kINALU: inalu_backward(l, p, s, x, rows, dx, dp); break;
    case Kind::kNAC: break;
    case Kind::kNACMul:
      for_each_vector<T>(l.out, rows, [&](int o, int r) {
        store(s.grad_first[o] + r, vec<T>(load(dz[o] + r) * load(s.output[o] + r)));
      });
      break;
    case Kind::kNALU:
      mix_backward(l, s, rows);
      for_each_vector<T>(l.out, rows, [&](int o, int r) {
        store(s.grad_second[o] + r, vec<T>(load(s.grad_second[o] + r) * load(s.second[o] + r)));
      });
      break;
    case Kind::kGatedNAUNMU:
      mix_backward(l, s, rows);
      product_backward<T>(p + n, l.in, l.out, x, {s.grad_second.data, rows}, rows, dx, dp + n, s.scratch);
      break;
    case Kind::kRealNPU:
    case Kind::kNPU: npu_backward(l, p, s, x, rows, dx, dp); break;
    case Kind::kReLU:
    case Kind::kReLU6: {
      const vec<T> top = broadcast(l.kind == Kind::kReLU ? infinity<T>() : T(6));
      if (dx.data)
        for_each_vector<T>(l.out, rows, [&](int o, int r) {
          const vec<T> v = load(x[o] + r), d = load(dz[o] + r);
          store(dx[o] + r, select<T>(v > zero<T>(), select<T>(v < top, d, zero<T>()), zero<T>()));
        });
      break;
    }
  }
  if (shares_forms(l)) return;
  add_outer<T>(s.of_input.form, s.of_input.count, l.in, x, rows);
  if (dx.data) add_transposed<T>(s.of_input.form, s.of_input.count, l.in, dx, rows);
  if (!multiplies_logs(l)) return;
  add_outer<T>(s.of_logs.form, s.of_logs.count, l.in, {s.logs.data, rows}, rows);
  if (!dx.data) return;
  fill_zero(s.grad_logs, l.in, rows);
  add_transposed<T>(s.of_logs.form, s.of_logs.count, l.in, s.grad_logs, rows);
  add_log_magnitude_gradient<T>(x, {s.grad_logs.data, rows}, dx, l.in, rows, T(l.eps));
}

// max over the layer's effective weights of min(|W|, |1 - |W||); Madsen & Johansen eq. 17.
template <class T> TORCHALU_OUTLINE double sparsity_error(const Layer &l, const T *p, const LayerState<T> &s) {
  const std::size_t n = std::size_t(l.in) * l.out;
  double worst = 0;
  const auto scan = [&](const T *w) {
    for (std::size_t k = 0; k < n; ++k) {
      const double a = w[k] < 0 ? -double(w[k]) : double(w[k]), b = a > 1 ? a - 1 : 1 - a;
      const double d = a < b ? a : b;
      if (d > worst) worst = d;
    }
  };
  switch (l.kind) {
    case Kind::kLinear:
    case Kind::kNMU: scan(clamps_forward(l) ? s.effective : p); break;
    case Kind::kSNMU:
    case Kind::kRealNPU:
    case Kind::kNPU: scan(p); break;
    case Kind::kNAC:
    case Kind::kNACMul: scan(s.effective); break;
    case Kind::kNALU: scan(s.effective), scan(s.effective + 2 * n); break;
    case Kind::kNMRU:
    case Kind::kGatedNAUNMU: scan(p), scan(p + n); break;
    case Kind::kINALU: scan(s.effective), scan(s.effective + n); break;
    default: break;
  }
  return worst;
}

}  // namespace torchalu::TORCHALU_ISA
