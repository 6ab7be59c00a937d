// The units as operators on row-major tensors.
#pragma once

#include "batches.hpp"
#include "units.hpp"

namespace torchalu::TORCHALU_ISA {

// Rows that are transposed and worked on at a time, and the distance between two features:
// an odd number of cache lines, so that neighboring features fall into different cache sets.
inline constexpr int kTileRows = 256, kTileStride = kTileRows + kRowGroup;

template <class T> struct NMUWorkspace {
  Batch<T> x, z, dz, dx;
  T *scratch;
  std::size_t bytes;
  NMUWorkspace(int in, int out, void *block) {
    Arena arena(block);
    const auto tile = [&](int features) {
      return Batch<T>{arena.take<T>(std::size_t(features) * kTileStride), kTileStride};
    };
    x = tile(in), z = tile(out), dz = tile(out), dx = tile(in);
    scratch = arena.take<T>(product_scratch<T>(in) * kLanes<T>);
    bytes = arena.used();
  }
};

// Rows [begin, begin + count) of a row-major matrix to features by rows, padded with `fill`; a
// square of lanes at a time where a whole one is left.
template <class T>
inline void gather(const T *rows, int features, std::int64_t begin, int count, Batch<T> out, T fill) {
  constexpr int n = kLanes<T>;
  const int whole_rows = count / n * n, whole_features = features / n * n, padded = padded_rows(count);
  const T *from = rows + begin * features;
  for (int r = 0; r < whole_rows; r += n)
    for (int f = 0; f < whole_features; f += n) {
      vec<T> square[n];
      for (int k = 0; k < n; ++k) __builtin_memcpy(&square[k], from + std::ptrdiff_t(r + k) * features + f, sizeof square[k]);
      transpose<T>(square);
      for (int k = 0; k < n; ++k) store(out[f + k] + r, square[k]);
    }
  for (int f = 0; f < features; ++f) {
    for (int r = f < whole_features ? whole_rows : 0; r < count; ++r) out[f][r] = from[std::ptrdiff_t(r) * features + f];
    for (int r = count; r < padded; ++r) out[f][r] = fill;
  }
}
template <class T> inline void scatter(Batch<T> in, int features, std::int64_t begin, int count, T *rows) {
  constexpr int n = kLanes<T>;
  const int whole_rows = count / n * n, whole_features = features / n * n;
  T *to = rows + begin * features;
  for (int r = 0; r < whole_rows; r += n)
    for (int f = 0; f < whole_features; f += n) {
      vec<T> square[n];
      for (int k = 0; k < n; ++k) square[k] = load(in[f + k] + r);
      transpose<T>(square);
      for (int k = 0; k < n; ++k) __builtin_memcpy(to + std::ptrdiff_t(r + k) * features + f, &square[k], sizeof square[k]);
    }
  for (int f = 0; f < features; ++f)
    for (int r = f < whole_features ? whole_rows : 0; r < count; ++r) to[std::ptrdiff_t(r) * features + f] = in[f][r];
}

template <class T> void nmu_forward(const NMUOperands &op, std::int64_t begin, std::int64_t end, void *workspace) {
  const NMUWorkspace<T> w(op.in, op.out, workspace);
  for (std::int64_t at = begin; at < end; at += kTileRows) {
    const int count = int(end - at < kTileRows ? end - at : kTileRows);
    gather<T>(static_cast<const T *>(op.input), op.in, at, count, w.x, T(1));
    product_forward<T>(static_cast<const T *>(op.weight), op.in, op.out, {w.x.data, w.x.stride}, w.z,
                       padded_rows(count), w.scratch);
    scatter<T>(w.z, op.out, at, count, static_cast<T *>(op.output));
  }
}

template <class T>
void nmu_backward(const NMUOperands &op, std::int64_t begin, std::int64_t end, T *grad_weight, void *workspace) {
  const NMUWorkspace<T> w(op.in, op.out, workspace);
  for (std::int64_t at = begin; at < end; at += kTileRows) {
    const int count = int(end - at < kTileRows ? end - at : kTileRows), rows = padded_rows(count);
    gather<T>(static_cast<const T *>(op.input), op.in, at, count, w.x, T(1));
    gather<T>(static_cast<const T *>(op.grad_output), op.out, at, count, w.dz, T(0));
    fill_zero(w.dx, op.in, rows);
    product_backward<T>(static_cast<const T *>(op.weight), op.in, op.out, {w.x.data, w.x.stride},
                        {w.dz.data, w.dz.stride}, rows, w.dx, grad_weight, w.scratch);
    scatter<T>(w.dx, op.in, at, count, static_cast<T *>(op.grad_input));
  }
}

template <class T> void elementary(Elementary function, const T *input, T *output, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) {
    const vec<T> x = broadcast(input[k]);
    vec<T> y = x, sine, cosine;
    switch (function) {
      case Elementary::kExp: y = exp<T>(x); break;
      case Elementary::kLog: y = log<T>(x); break;
      case Elementary::kTanh: tanh_and_slope<T>(x, y, cosine); break;
      case Elementary::kSigmoid: sigmoids<T>(x, y, cosine); break;
      case Elementary::kSin: sincos<T>(x, y, cosine); break;
      case Elementary::kCos: sincos<T>(x, sine, y); break;
    }
    output[k] = y[0];
  }
}

inline std::size_t nmu_workspace_any(int in, int out, bool is_double) {
  return is_double ? NMUWorkspace<double>(in, out, nullptr).bytes : NMUWorkspace<float>(in, out, nullptr).bytes;
}
inline void nmu_forward_any(const NMUOperands &op, std::int64_t begin, std::int64_t end, void *workspace, bool is_double) {
  if (is_double) nmu_forward<double>(op, begin, end, workspace);
  else nmu_forward<float>(op, begin, end, workspace);
}
inline void nmu_backward_any(const NMUOperands &op, std::int64_t begin, std::int64_t end, void *grad_weight,
                             void *workspace, bool is_double) {
  if (is_double) nmu_backward<double>(op, begin, end, static_cast<double *>(grad_weight), workspace);
  else nmu_backward<float>(op, begin, end, static_cast<float *>(grad_weight), workspace);
}
inline void elementary_any(Elementary function, const void *input, void *output, std::int64_t count, bool is_double) {
  if (is_double) elementary<double>(function, static_cast<const double *>(input), static_cast<double *>(output), count);
  else elementary<float>(function, static_cast<const float *>(input), static_cast<float *>(output), count);
}

}  // namespace torchalu::TORCHALU_ISA
