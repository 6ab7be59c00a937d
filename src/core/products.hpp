// Products of factors w x + 1 - w, forward and backward: the arithmetic of the NMU.
#pragma once

#include "matrix.hpp"

namespace torchalu::TORCHALU_ISA {

// Inputs that the backward pass of a product holds in registers at a time.
inline constexpr int kChunk = 4;

// Vectors of scratch that the products of a layer with `in` inputs need: for each output that is
// worked on at a time the sums of gradients, the prefixes before each chunk, and the complements 1 - W.
template <class T> TORCHALU_DEVICE inline std::size_t product_scratch(int in) {
  return (kTiles ? 4 : 1) * (std::size_t(in) + in / kChunk + kChunk + in / kLanes<T> + 1);
}

template <class T> TORCHALU_DEVICE inline void complement(const T *weight, T *out, int count) {
  for_each_value(count, [&](int k) { out[k] = T(1) - weight[k]; });
}

// z_o = prod_i (w_oi x_i + 1 - w_oi), OT outputs x VT vectors of rows at a time.
template <class T, int OT, int VT> TORCHALU_DEVICE
inline void product_tile(const T *weight, const T *rest, int in, const Batch<const T> &x, const Batch<T> &z, int o,
                         int r) {
  vec<T> p[OT][VT];
  for (int a = 0; a < OT; ++a)
    for (int v = 0; v < VT; ++v) p[a][v] = broadcast(T(1));
  for (int i = 0; i < in; ++i) {
    vec<T> value[VT];
    for (int v = 0; v < VT; ++v) value[v] = load(x[i] + r + v * kLanes<T>);
    for (int a = 0; a < OT; ++a) {
      const T w = weight[std::ptrdiff_t(a) * in + i], c = rest[std::ptrdiff_t(a) * in + i];
      for (int v = 0; v < VT; ++v) p[a][v] *= value[v] * w + c;
    }
  }
  for (int a = 0; a < OT; ++a)
    for (int v = 0; v < VT; ++v) store(z[o + a] + r + v * kLanes<T>, p[a][v]);
}
template <class T, int OT> TORCHALU_DEVICE
inline void product_rows(const T *weight, int in, const Batch<const T> &x, const Batch<T> &z, int o, int rows,
                         T *scratch) {
  T *rest = scratch;
  const T *w = weight + std::ptrdiff_t(o) * in;
  complement(w, rest, OT * in);
  int r = 0;
  for (; r + 4 * kLanes<T> <= rows; r += 4 * kLanes<T>) product_tile<T, OT, 4>(w, rest, in, x, z, o, r);
  for (; r < rows; r += kLanes<T>) product_tile<T, OT, 1>(w, rest, in, x, z, o, r);
}
template <class T> TORCHALU_OUTLINE
inline void product_forward(const T *weight, int in, int out, Batch<const T> x, Batch<T> z, int rows,
                            T *scratch) {
  int o = 0;
  if constexpr (kTiles)
    for (; o + 2 <= out; o += 2) product_rows<T, 2>(weight, in, x, z, o, rows, scratch);
  for (; o < out; ++o) product_rows<T, 1>(weight, in, x, z, o, rows, scratch);
}

// Inputs i .. i + N of the backward pass of OT products, for one vector of rows. `prefix` is the
// product of the factors before i, `suffix` the gradient times the product of those after i + N,
// which this call extends to i. N small enough for the registers.
template <class T, int OT, int N, bool WithInput> TORCHALU_DEVICE
inline void product_backward_chunk(const T *weight, const T *rest, int in, const Batch<const T> &x, int i, int r,
                                   const T *prefix, vec<T> *suffix, T *total, const Batch<T> &dx) {
  vec<T> value[N], slope[N];
  for (int k = 0; k < N; ++k) {
    value[k] = load(x[i + k] + r);
    if constexpr (WithInput) slope[k] = load(dx[i + k] + r);
  }
  for (int a = 0; a < OT; ++a) {
    const std::ptrdiff_t at = std::ptrdiff_t(a) * in + i;
    const T *w = weight + at, *c = rest + at;
    vec<T> factor[N], before[N];
    before[0] = load(prefix + a * kLanes<T>);
    for (int k = 0; k < N; ++k) factor[k] = value[k] * w[k] + c[k];
    for (int k = 1; k < N; ++k) before[k] = before[k - 1] * factor[k - 1];
    vec<T> after = suffix[a];
    for (int k = N - 1; k >= 0; --k) {
      const vec<T> others = before[k] * after;
      T *sum = total + (at + k) * kLanes<T>;
      store(sum, vec<T>(load(sum) + others * (value[k] - T(1))));
      if constexpr (WithInput) slope[k] += others * w[k];
      after *= factor[k];
    }
    suffix[a] = after;
  }
  if constexpr (WithInput)
    for (int k = 0; k < N; ++k) store(dx[i + k] + r, slope[k]);
}

// OT products at once.
template <class T, int OT, bool WithInput> TORCHALU_DEVICE
inline void product_backward_tile(const T *weight, int in, const Batch<const T> &x, const Batch<const T> &dz, int o,
                                  int rows, const Batch<T> &dx, T *dweight, T *scratch) {
  const T *w = weight + std::ptrdiff_t(o) * in;
  T *total = scratch, *prefix = total + std::ptrdiff_t(OT) * in * kLanes<T>;
  T *rest = prefix + OT * (in / kChunk + in % kChunk) * kLanes<T>;
  complement(w, rest, OT * in);
  const int chunks = in / kChunk, whole = chunks * kChunk;
  for (int i = 0; i < OT * in; ++i) store(total + i * kLanes<T>, zero<T>());
  for (int r = 0; r < rows; r += kLanes<T>) {
    vec<T> p[OT], suffix[OT];
    for (int a = 0; a < OT; ++a) p[a] = broadcast(T(1)), suffix[a] = load(dz[o + a] + r);
    T *at = prefix;
    const auto advance = [&](int i, int count) {  // past `count` inputs, whose product is a chain of its own
      vec<T> q[OT];
      for (int a = 0; a < OT; ++a, at += kLanes<T>) store(at, p[a]), q[a] = broadcast(T(1));
      for (int k = i; k < i + count; ++k) {
        const vec<T> value = load(x[k] + r);
        for (int a = 0; a < OT; ++a) q[a] *= value * w[std::ptrdiff_t(a) * in + k] + rest[std::ptrdiff_t(a) * in + k];
      }
      for (int a = 0; a < OT; ++a) p[a] *= q[a];
    };
    for (int c = 0; c < chunks; ++c) advance(c * kChunk, kChunk);
    for (int i = whole; i < in; ++i) advance(i, 1);
    for (int i = in - 1; i >= whole; --i)
      product_backward_chunk<T, OT, 1, WithInput>(w, rest, in, x, i, r, at -= OT * kLanes<T>, suffix, total, dx);
    for (int c = chunks - 1; c >= 0; --c)
      product_backward_chunk<T, OT, kChunk, WithInput>(w, rest, in, x, c * kChunk, r, at -= OT * kLanes<T>, suffix, total, dx);
  }
  T *d = dweight + std::ptrdiff_t(o) * in;
  int i = 0;
  for (; i + kLanes<T> <= OT * in; i += kLanes<T>) {
    vec<T> rows[kLanes<T>];
    for (int l = 0; l < kLanes<T>; ++l) rows[l] = load(total + (i + l) * kLanes<T>);
    lanes_of<T>(sum_each<T>(rows)).template add<kLanes<T>>(0, kLanes<T>, d + i);
  }
  for (; i < OT * in; ++i) add_sum<T>(load(total + i * kLanes<T>), d + i);
}

template <class T, bool WithInput> TORCHALU_DEVICE
inline void product_backward_all(const T *weight, int in, int out, const Batch<const T> &x, const Batch<const T> &dz,
                                 int rows, const Batch<T> &dx, T *dweight, T *scratch) {
  int o = 0;
  if constexpr (kTiles)
    for (; o + 4 <= out; o += 4)
      product_backward_tile<T, 4, WithInput>(weight, in, x, dz, o, rows, dx, dweight, scratch);
  for (; o < out; ++o) product_backward_tile<T, 1, WithInput>(weight, in, x, dz, o, rows, dx, dweight, scratch);
}

// dW += ..., dx += ... (dx may be absent); exact also where a factor is 0, since the product of
// the others is formed from prefix and suffix products, without a division.
template <class T> TORCHALU_OUTLINE
inline void product_backward(const T *weight, int in, int out, Batch<const T> x, Batch<const T> dz, int rows,
                             Batch<T> dx, T *dweight, T *scratch) {
  if (dx.data) product_backward_all<T, true>(weight, in, out, x, dz, rows, dx, dweight, scratch);
  else product_backward_all<T, false>(weight, in, out, x, dz, rows, dx, dweight, scratch);
}

}  // namespace torchalu::TORCHALU_ISA
