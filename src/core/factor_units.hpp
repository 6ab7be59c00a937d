// Units made of products of factors, beside the NMU: NMRU, sNMU and iNALU.
#pragma once

#include "log_space.hpp"
#include "weights.hpp"

namespace torchalu::TORCHALU_ISA {

// NMRU: an NMU over magnitudes and their reciprocals, whose rows of weights lie side by side in
// `effective`, times the cosine of half turns: W + R, behind them, over the inputs below 0.
template <class T> TORCHALU_OUTLINE
void nmru_forward(const Layer &l, LayerState<T> &s, Batch<const T> x, int rows) {
  const T pi = T(3.141592653589793);
  for_each_vector<T>(l.in, rows, [&](int i, int r) {
    const vec<T> value = load(x[i] + r), magnitude = absolute<T>(value);
    store(s.factors[i] + r, magnitude);
    store(s.factors[l.in + i] + r, vec<T>(T(1) / (magnitude + T(l.eps))));
    store(s.angles[i] + r, select<T>(value < zero<T>(), broadcast(pi), zero<T>()));
  });
  multiply<T>(s.of_angles.form, s.of_angles.count, l.in, {s.angles.data, rows}, rows);
  product_forward<T>(s.effective, 2 * l.in, l.out, {s.factors.data, rows}, s.first, rows, s.scratch);
  for_each_vector<T>(l.out, rows, [&](int o, int r) {
    vec<T> sine, cosine;
    sincos<T>(load(s.second[o] + r), sine, cosine);
    const vec<T> product = load(s.first[o] + r);
    store(s.first[l.out + o] + r, cosine);
    store(s.second[o] + r, vec<T>(-(product * sine)));  // the derivative by the angle
    store(s.output[o] + r, vec<T>(product * cosine));
  });
}

template <class T> TORCHALU_OUTLINE
void nmru_backward(const Layer &l, LayerState<T> &s, Batch<const T> x, int rows, Batch<T> dx) {
  for_each_vector<T>(l.out, rows, [&](int o, int r) {
    const vec<T> d = load(s.grad_output[o] + r);
    store(s.grad_first[o] + r, vec<T>(d * load(s.first[l.out + o] + r)));
    store(s.grad_second[o] + r, vec<T>(d * load(s.second[o] + r)));
  });
  const Batch<T> dfactors = dx.data ? s.grad_factors : Batch<T>{};
  if (dx.data) fill_zero(dfactors, 2 * l.in, rows);
  product_backward<T>(s.effective, 2 * l.in, l.out, {s.factors.data, rows}, {s.grad_first.data, rows}, rows, dfactors,
                      s.grad_effective, s.scratch);
  add_outer<T>(s.of_angles.form, s.of_angles.count, l.in, {s.angles.data, rows}, rows);
  if (!dx.data) return;
  for_each_vector<T>(l.in, rows, [&](int i, int r) {
    const vec<T> value = load(x[i] + r), reciprocal = load(s.factors[l.in + i] + r), one = broadcast(T(1));
    const vec<T> by_magnitude = load(dfactors[i] + r) * select<T>(value < zero<T>(), -one, one);
    const vec<T> by_reciprocal = load(dfactors[l.in + i] + r) * sign<T>(value) * reciprocal * reciprocal;
    store(dx[i] + r, vec<T>(load(dx[i] + r) + by_magnitude - by_reciprocal));
  });
}

// sNMU in training: factors 1 + V (x - 1) with V = W n / (1 + W (n - 1)), n in `factors`.
template <class T> TORCHALU_OUTLINE
void stochastic_forward(const Layer &l, const T *p, LayerState<T> &s, Batch<const T> x, int rows) {
  for_each_vector<T>(l.out, rows, [&](int o, int r) {
    vec<T> product = broadcast(T(1));
    for (int i = 0; i < l.in; ++i) {
      const T w = p[std::ptrdiff_t(o) * l.in + i];
      const vec<T> scaled = load(s.factors[i] + r) * w;
      product *= scaled / (scaled + (T(1) - w)) * (load(x[i] + r) - T(1)) + T(1);
    }
    store(s.output[o] + r, product);
  });
}

template <class T> TORCHALU_OUTLINE
void stochastic_backward(const Layer &l, const T *p, LayerState<T> &s, Batch<const T> x, int rows, Batch<T> dx, T *dp) {
  T *before = s.scratch, *total = before + l.in * kLanes<T>;
  for (int o = 0; o < l.out; ++o) {
    const T *w = p + std::ptrdiff_t(o) * l.in;
    for (int i = 0; i < l.in; ++i) store(total + i * kLanes<T>, zero<T>());
    for (int r = 0; r < rows; r += kLanes<T>) {
      const auto parts = [&](int i, vec<T> &rest, vec<T> &share) {  // x - 1, V
        const vec<T> scaled = load(s.factors[i] + r) * w[i];
        rest = load(x[i] + r) - T(1);
        share = scaled / (scaled + (T(1) - w[i]));
      };
      vec<T> rest, share, product = broadcast(T(1));
      for (int i = 0; i < l.in; ++i) {
        parts(i, rest, share);
        store(before + i * kLanes<T>, product);
        product *= share * rest + T(1);
      }
      vec<T> after = load(s.grad_output[o] + r);
      for (int i = l.in - 1; i >= 0; --i) {
        parts(i, rest, share);
        const vec<T> n = load(s.factors[i] + r), whole = n * w[i] + (T(1) - w[i]), others = load(before + i * kLanes<T>) * after;
        T *sum = total + i * kLanes<T>;
        store(sum, vec<T>(load(sum) + others * rest * n / (whole * whole)));
        if (dx.data) store(dx[i] + r, vec<T>(load(dx[i] + r) + others * share));
        after *= share * rest + T(1);
      }
    }
    for (int i = 0; i < l.in; ++i) add_sum<T>(load(total + i * kLanes<T>), dp + std::ptrdiff_t(o) * l.in + i);
  }
}

// iNALU: y = g a + h s m, a sum a, a magnitude m that stops at e^high and its sign s, with a gate
// for each output. `effective` holds W, W' and |W'|; `first` a, then s.
template <class T> TORCHALU_OUTLINE
void inalu_forward(const Layer &l, const T *p, LayerState<T> &s, Batch<const T> x, int rows) {
  const std::size_t n = std::size_t(l.in) * l.out;
  const vec<T> eps = broadcast(T(l.eps)), most = broadcast(T(l.high));
  for_each_vector<T>(l.in, rows, [&](int i, int r) {
    const vec<T> value = load(x[i] + r);
    store(s.logs[i] + r, vec<T>(log<T>(maximum<T>(eps, absolute<T>(value)))));
    store(s.factors[i] + r, sign<T>(value));
  });
  multiply<T>(s.of_logs.form, s.of_logs.count, l.in, {s.logs.data, rows}, rows);
  product_forward<T>(s.effective + 2 * n, l.in, l.out, {s.factors.data, rows}, {s.first[l.out], rows}, rows, s.scratch);
  for (int o = 0; o < l.out; ++o) {
    vec<T> g, h;
    sigmoids<T>(broadcast(p[4 * n + o]), g, h);
    for (int r = 0; r < rows; r += kLanes<T>) {
      const vec<T> exponent = load(s.second[o] + r), m = exp<T>(minimum<T>(exponent, most));
      store(s.second[o] + r, m);
      store(s.grad_second[o] + r, select<T>(exponent <= most, m, zero<T>()));  // the derivative by the exponent
      store(s.output[o] + r, vec<T>(g * load(s.first[o] + r) + h * load(s.first[l.out + o] + r) * m));
    }
  }
}

template <class T> TORCHALU_OUTLINE
void inalu_backward(const Layer &l, const T *p, LayerState<T> &s, Batch<const T> x, int rows, Batch<T> dx, T *dp) {
  const std::size_t n = std::size_t(l.in) * l.out;
  for (int o = 0; o < l.out; ++o) {
    vec<T> g, h, total = zero<T>();
    sigmoids<T>(broadcast(p[4 * n + o]), g, h);
    for (int r = 0; r < rows; r += kLanes<T>) {
      const vec<T> d = load(s.grad_output[o] + r), sum = load(s.first[o] + r), signs = load(s.first[l.out + o] + r);
      const vec<T> m = load(s.second[o] + r), slope = load(s.grad_second[o] + r);
      total += d * (sum - signs * m);
      store(s.grad_first[o] + r, vec<T>(d * g));
      store(s.grad_first[l.out + o] + r, vec<T>(d * h * m));
      store(s.grad_second[o] + r, vec<T>(d * h * signs * slope));
    }
    add_sum<T>(total * g * h, dp + 4 * n + o);
  }
  product_backward<T>(s.effective + 2 * n, l.in, l.out, {s.factors.data, rows}, {s.grad_first[l.out], rows}, rows, {},
                      s.grad_effective + 2 * n, s.scratch);
  add_outer<T>(s.of_logs.form, s.of_logs.count, l.in, {s.logs.data, rows}, rows);
  if (!dx.data) return;
  fill_zero(s.grad_logs, l.in, rows);
  add_transposed<T>(s.of_logs.form, s.of_logs.count, l.in, s.grad_logs, rows);
  for_each_vector<T>(l.in, rows, [&](int i, int r) {
    const vec<T> value = load(x[i] + r), slope = load(s.grad_logs[i] + r) / value;
    store(dx[i] + r, vec<T>(load(dx[i] + r) + select<T>(absolute<T>(value) < T(l.eps), zero<T>(), slope)));
  });
}

}  // namespace torchalu::TORCHALU_ISA
