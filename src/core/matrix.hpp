// Products of a small weight matrix with a batch.
//
// A batch is a matrix of features by rows: the rows (samples) are contiguous, padded to whole
// groups of kRowGroup, and each feature starts on a 64-byte boundary. Weights are row-major
// (out, in), contiguous.
#pragma once

#include "simd.hpp"

namespace torchalu::TORCHALU_ISA {

// A view of a batch: feature f, row r lies at data[f * stride + r].
template <class T> struct Batch {
  T *data = nullptr;
  std::ptrdiff_t stride = 0;
  T *operator[](std::ptrdiff_t feature) const { return data + feature * stride; }
};

template <class T, class F> inline void for_each_vector(int features, int rows, F &&f) {
  for (int i = 0; i < features; ++i)
    for (int r = 0; r < rows; r += kLanes<T>) f(i, r);
}

template <class T> inline void fill_zero(Batch<T> b, int features, int rows) {
  for_each_vector<T>(features, rows, [&](int i, int r) { store(b[i] + r, zero<T>()); });
}
template <class T> inline void fill_zero(T *p, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) p[k] = T(0);
}

namespace detail {

// OT outputs x VT vectors of rows of z = W x, kept in registers over all inputs. The inputs are
// read last to first: the last were written last, and a batch may be larger than the cache.
template <class T, int OT, int VT>
inline void multiply_tile(const T *weight, int stride, int in, const Batch<const T> &x, const Batch<T> &z, int o, int r,
                          bool accumulate) {
  vec<T> sum[OT][VT];
  for (int a = 0; a < OT; ++a)
    for (int v = 0; v < VT; ++v)
      sum[a][v] = accumulate ? load(z[o + a] + r + v * kLanes<T>) : zero<T>();
  const T *w = weight + std::ptrdiff_t(o) * stride;
  for (int i = in - 1; i >= 0; --i) {
    const T *column = x[i] + r;
    for (int v = 0; v < VT; ++v) {
      const vec<T> value = load(column + v * kLanes<T>);
      for (int a = 0; a < OT; ++a) sum[a][v] += value * w[std::ptrdiff_t(a) * stride + i];
    }
  }
  for (int a = 0; a < OT; ++a)
    for (int v = 0; v < VT; ++v) store(z[o + a] + r + v * kLanes<T>, sum[a][v]);
}

template <class T, int OT, int VT>
inline void multiply_rows(const T *weight, int stride, int in, const Batch<const T> &x, const Batch<T> &z, int o, int rows,
                          bool accumulate) {
  int r = 0;
  for (; r + VT * kLanes<T> <= rows; r += VT * kLanes<T>)
    multiply_tile<T, OT, VT>(weight, stride, in, x, z, o, r, accumulate);
  for (; r < rows; r += kLanes<T>) multiply_tile<T, OT, 1>(weight, stride, in, x, z, o, r, accumulate);
}

// OT outputs x IT inputs of dW = dz x^T, OT * IT = kLanes; only the first `valid` inputs count.
template <class T, int OT, int IT>
inline void outer_tile(const Batch<const T> &dz, const Batch<const T> &x, T *dweight, int in, int rows, int o, int i,
                       int valid) {
  const T *column[IT];
  for (int b = 0; b < IT; ++b) column[b] = x[i + (b < valid ? b : 0)];
  vec<T> sum[OT * IT];
  for (int k = 0; k < OT * IT; ++k) sum[k] = zero<T>();
  for (int r = 0; r < rows; r += kLanes<T>) {
    vec<T> g[OT];
    for (int a = 0; a < OT; ++a) g[a] = load(dz[o + a] + r);
    for (int b = 0; b < IT; ++b) {
      const vec<T> value = load(column[b] + r);
      for (int a = 0; a < OT; ++a) sum[a * IT + b] += g[a] * value;
    }
  }
  alignas(64) T total[kLanes<T>];
  store(total, sum_each<T>(sum));
  for (int a = 0; a < OT; ++a) {
    T *d = dweight + std::ptrdiff_t(o + a) * in + i;
    if (valid == IT)
      for (int b = 0; b < IT; ++b) d[b] += total[a * IT + b];
    else
      for (int b = 0; b < valid; ++b) d[b] += total[a * IT + b];
  }
}

template <class T, int OT>
inline void outer_rows(const Batch<const T> &dz, const Batch<const T> &x, T *dweight, int in, int rows, int o) {
  constexpr int IT = kLanes<T> / OT;
  int i = 0;
  for (; i + IT <= in; i += IT) outer_tile<T, OT, IT>(dz, x, dweight, in, rows, o, i, IT);
  if (i < in) outer_tile<T, OT, IT>(dz, x, dweight, in, rows, o, i, in - i);
}

}  // namespace detail

#if defined(__AVX512F__)
inline constexpr int kWideTile = 8, kTallTile = 4;
#else
inline constexpr int kWideTile = 4, kTallTile = 2;
#endif

// z = W x, or z += W x, where the rows of W lie `stride` apart.
template <class T>
inline void multiply_part(const T *weight, int stride, int in, int out, Batch<const T> x, Batch<T> z, int rows,
                          bool accumulate) {
  int o = 0;
  for (; o + 4 <= out; o += 4)
    detail::multiply_rows<T, 4, kTallTile>(weight, stride, in, x, z, o, rows, accumulate);
  for (; o + 2 <= out; o += 2)
    detail::multiply_rows<T, 2, kWideTile>(weight, stride, in, x, z, o, rows, accumulate);
  for (; o < out; ++o)
    detail::multiply_rows<T, 1, kWideTile>(weight, stride, in, x, z, o, rows, accumulate);
}
template <class T>
inline void multiply(const T *weight, int in, int out, Batch<const T> x, Batch<T> z, int rows,
                     bool accumulate = false) {
  multiply_part<T>(weight, in, in, out, x, z, rows, accumulate);
}

// dW += dz x^T.
template <class T>
inline void add_outer(Batch<const T> dz, Batch<const T> x, T *dweight, int in, int out, int rows) {
  int o = 0;
  if constexpr (kLanes<T> >= 8)
    for (; o + 4 <= out; o += 4) detail::outer_rows<T, 4>(dz, x, dweight, in, rows, o);
  for (; o + 2 <= out; o += 2) detail::outer_rows<T, 2>(dz, x, dweight, in, rows, o);
  for (; o < out; ++o) detail::outer_rows<T, 1>(dz, x, dweight, in, rows, o);
}

// dx += W^T dz.
template <class T>
inline void add_transposed(const T *weight, int in, int out, Batch<const T> dz, Batch<T> dx, int rows) {
  for (int i = 0; i < in; ++i)
    for (int r = 0; r < rows; r += kLanes<T>) {
      vec<T> s = load(dx[i] + r);
      for (int o = 0; o < out; ++o) s += load(dz[o] + r) * weight[std::ptrdiff_t(o) * in + i];
      store(dx[i] + r, s);
    }
}

}  // namespace torchalu::TORCHALU_ISA
