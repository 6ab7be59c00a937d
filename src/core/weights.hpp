// Effective weights: from the parameters to W, and gradients the way back.
#pragma once

#include "layer_state.hpp"

namespace torchalu::TORCHALU_ISA {

// Applies f to vectors of the arrays, which need not be aligned; the last one is padded with zeros.
template <class T, int In, int Out, class F> TORCHALU_DEVICE
inline void map_vectors(const T *const (&in)[In], T *const (&out)[Out], std::size_t count, F &&f) {
  for (std::size_t k = 0; k < count; k += kLanes<T>) {
    const std::size_t left = count - k;
    vec<T> x[In], y[Out];
    for (int c = 0; c < In; ++c) x[c] = load_some(in[c] + k, left);
    f(x, y);
    for (int c = 0; c < Out; ++c) store_some(out[c] + k, y[c], left);
  }
  join();
}

// W = tanh(w_hat) sigmoid(m_hat), and its slopes by w_hat and by m_hat.
template <class T> TORCHALU_OUTLINE
inline void tanh_sigmoid(const T *w_hat, const T *m_hat, T *weight, T *slope_w, T *slope_m, std::size_t count) {
  map_vectors<T>({w_hat, m_hat}, {weight, slope_w, slope_m}, count, [](const vec<T> *x, vec<T> *y) {
    vec<T> t, slope, s, rest;
    tanh_and_slope<T>(x[0], t, slope);
    sigmoids<T>(x[1], s, rest);
    y[0] = t * s, y[1] = slope * s, y[2] = t * s * rest;
  });
}
// W = sigmoid(w_hat), and its slope.
template <class T> TORCHALU_DEVICE inline void sigmoid_weight(const T *w_hat, T *weight, T *slope, std::size_t count) {
  map_vectors<T>({w_hat}, {weight, slope}, count, [](const vec<T> *x, vec<T> *y) {
    vec<T> rest;
    sigmoids<T>(x[0], y[0], rest);
    y[1] = y[0] * rest;
  });
}
// W = w between the bounds, and its slope, which is 1 at them.
template <class T> TORCHALU_DEVICE
inline void clamped_weight(const T *w, T low, T high, T *weight, T *slope, std::size_t count) {
  for_each_value(count, [&](std::size_t k) {
    weight[k] = w[k] < low ? low : w[k] > high ? high : w[k];
    slope[k] = w[k] < low || w[k] > high ? T(0) : T(1);
  });
}
template <class T> TORCHALU_DEVICE inline void copy(const T *from, T *to, std::size_t count) {
  for_each_value(count, [&](std::size_t k) { to[k] = from[k]; });
}
template <class T> TORCHALU_DEVICE inline void add(const T *from, T *to, std::size_t count) {
  for_each_value(count, [&](std::size_t k) { to[k] += from[k]; });
}
template <class T> TORCHALU_DEVICE inline void add_product(const T *a, const T *b, T *to, std::size_t count) {
  for_each_value(count, [&](std::size_t k) { to[k] += a[k] * b[k]; });
}

// Fills the effective weights of a layer, and their slopes, from its parameters, once a step.
// A NALU holds the weight of its sum, that of its gate and that of its product.
template <class T> TORCHALU_OUTLINE void prepare(const Layer &l, const T *p, LayerState<T> &s) {
  const std::size_t n = std::size_t(l.in) * l.out;
  T *w = s.effective, *slope = s.slopes;
  switch (l.kind) {
    case Kind::kLinear:
    case Kind::kNMU:
      if (clamps_forward(l)) clamped_weight(p, T(l.low), T(l.high), w, slope, n);
      break;
    case Kind::kNAC: tanh_sigmoid(p, p + n, w, slope, slope + n, n); break;
    case Kind::kNACMul:
      if (l.parametrization == Parametrization::kTanhSigmoid) tanh_sigmoid(p, p + n, w, slope, slope + n, n);
      else if (l.parametrization == Parametrization::kSigmoid) sigmoid_weight(p, w, slope, n);
      else copy(p, w, n);
      break;
    case Kind::kNALU:
      tanh_sigmoid(p, p + n, w, slope, slope + n, n);
      copy(p + (l.separate ? 4 : 2) * n, w + n, n);
      if (l.separate) tanh_sigmoid(p + 2 * n, p + 3 * n, w + 2 * n, slope + 2 * n, slope + 3 * n, n);
      else copy(w, w + 2 * n, n);
      break;
    case Kind::kGatedNAUNMU:  // the weight of the product stays where it is
      copy(p, w, n);
      copy(p + 2 * n, w + n, n);
      break;
    case Kind::kNMRU:  // the rows of both weights side by side, and then their sum
      for (int o = 0; o < l.out; ++o) {
        const std::size_t row = std::size_t(o) * l.in;
        copy(p + row, w + 2 * row, l.in);
        copy(p + n + row, w + 2 * row + l.in, l.in);
      }
      for_each_value(n, [&](std::size_t k) { w[2 * n + k] = p[k] + p[n + k]; });
      break;
    case Kind::kINALU:
      tanh_sigmoid(p, p + n, w, slope, slope + n, n);
      tanh_sigmoid(p + 2 * n, p + 3 * n, w + n, slope + 2 * n, slope + 3 * n, n);
      for_each_value(n, [&](std::size_t k) { w[2 * n + k] = w[n + k] < T(0) ? -w[n + k] : w[n + k]; });
      break;
    default: break;
  }
}

// Carries the gradients of the effective weights to the parameters.
template <class T> TORCHALU_OUTLINE void finish_gradient(const Layer &l, LayerState<T> &s, T *dp) {
  const std::size_t n = std::size_t(l.in) * l.out;
  T *g = s.grad_effective;
  const T *slope = s.slopes;
  const auto both = [&](const T *gradient, const T *slopes, T *to) {
    add_product(gradient, slopes, to, n);
    add_product(gradient, slopes + n, to + n, n);
  };
  switch (l.kind) {
    case Kind::kLinear:
    case Kind::kNMU:
      if (clamps_forward(l)) add_product(g, slope, dp, n);
      break;
    case Kind::kNAC: both(g, slope, dp); break;
    case Kind::kNACMul:
      if (l.parametrization == Parametrization::kTanhSigmoid) both(g, slope, dp);
      else if (l.parametrization == Parametrization::kSigmoid) add_product(g, slope, dp, n);
      else add(g, dp, n);
      break;
    case Kind::kNALU:
      if (!l.separate) add(g + 2 * n, g, n);
      both(g, slope, dp);
      if (l.separate) both(g + 2 * n, slope + 2 * n, dp + 2 * n);
      add(g + n, dp + (l.separate ? 4 : 2) * n, n);
      break;
    case Kind::kGatedNAUNMU:
      add(g, dp, n);
      add(g + n, dp + 2 * n, n);
      break;
    case Kind::kNMRU:
      for (int o = 0; o < l.out; ++o) {
        const std::size_t row = std::size_t(o) * l.in;
        add(g + 2 * row, dp + row, l.in);
        add(g + 2 * row + l.in, dp + n + row, l.in);
      }
      add(g + 2 * n, dp, n);
      add(g + 2 * n, dp + n, n);
      break;
    case Kind::kINALU:
      for_each_value(n, [&](std::size_t k) { g[n + k] += s.effective[n + k] < T(0) ? -g[2 * n + k] : g[2 * n + k]; });
      both(g, slope, dp);
      both(g + n, slope + 2 * n, dp + 2 * n);
      break;
    default: break;
  }
}

}  // namespace torchalu::TORCHALU_ISA
