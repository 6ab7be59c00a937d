// Linear forms of a batch.
//
// A batch is a matrix of features by rows: the rows (samples) are contiguous, padded to whole
// groups of kRowGroup, and each feature starts on a 64-byte boundary. Forms may belong to one
// layer or to several that read the same batch.
#pragma once

#include "simd.hpp"

namespace torchalu::TORCHALU_ISA {

// A view of a batch: feature f, row r lies at data[f * stride + r].
template <class T> struct Batch {
  T *data = nullptr;
  std::ptrdiff_t stride = 0;
  TORCHALU_DEVICE T *operator[](std::ptrdiff_t feature) const { return data + feature * stride; }
};

template <class T, class F> TORCHALU_DEVICE inline void for_each_vector(int features, int rows, F &&f) {
  for (int i = 0; i < features; ++i)
    for (int r = 0; r < rows; r += kLanes<T>) f(i, r);
}

template <class T> TORCHALU_DEVICE inline void fill_zero(Batch<T> b, int features, int rows) {
  for_each_vector<T>(features, rows, [&](int i, int r) { store(b[i] + r, zero<T>()); });
}
template <class T> TORCHALU_DEVICE inline void fill_zero(T *p, std::size_t count) {
  for_each_value(count, [&](std::size_t k) { p[k] = T(0); });
}

// One linear form z = w . x of a batch, and its way back: dw += sum over the rows of dz x.
template <class T> struct Form {
  const T *weight;
  T *value;
  const T *slope;
  T *grad_weight;
};

namespace detail {

// OT forms x VT vectors of rows, kept in registers over all inputs. The inputs are read last to
// first: the last were written last, and a batch may be larger than the cache.
template <class T, int OT, int VT> TORCHALU_DEVICE
inline void multiply_tile(const Form<T> *form, int in, Batch<const T> x, int r, bool accumulate) {
  vec<T> sum[OT][VT];
  const T *weight[OT];
  for (int a = 0; a < OT; ++a) {
    weight[a] = form[a].weight;
    for (int v = 0; v < VT; ++v) sum[a][v] = accumulate ? load(form[a].value + r + v * kLanes<T>) : zero<T>();
  }
  for (int i = in - 1; i >= 0; --i) {
    const T *column = x[i] + r;
    for (int v = 0; v < VT; ++v) {
      const vec<T> value = load(column + v * kLanes<T>);
      for (int a = 0; a < OT; ++a) sum[a][v] += value * weight[a][i];
    }
  }
  for (int a = 0; a < OT; ++a)
    for (int v = 0; v < VT; ++v) store(form[a].value + r + v * kLanes<T>, sum[a][v]);
}

// Here and below a tile works on copies of the forms, so that the compiler knows them untouched by
// what it stores.
template <class T, int OT, int VT> TORCHALU_DEVICE
inline void multiply_rows(const Form<T> *forms, int in, Batch<const T> x, int rows, bool accumulate) {
  Form<T> form[OT];
  for (int a = 0; a < OT; ++a) form[a] = forms[a];
  int r = 0;
  for (; r + VT * kLanes<T> <= rows; r += VT * kLanes<T>) multiply_tile<T, OT, VT>(form, in, x, r, accumulate);
  for (; r < rows; r += kLanes<T>) multiply_tile<T, OT, 1>(form, in, x, r, accumulate);
}

// A count that is known to the compiler.
template <int N> struct Exactly {
  TORCHALU_DEVICE constexpr operator int() const { return N; }
};

// OT forms x IT inputs, OT * IT = kLanes; only the first `valid` inputs count. Copied into its
// caller, as its loop is so short that a call would cost a fifth of it.
template <class T, int OT, int IT, class Valid> TORCHALU_INLINE
void outer_tile(const Form<T> (&form)[OT], Batch<const T> x, int rows, int i, Valid valid) {
  // Chosen before the loop: inside it compilers share a product between inputs, and round it.
  const T *column[IT];
  for (int b = 0; b < IT; ++b) column[b] = x[i] + (b < valid ? b : 0) * x.stride;
  vec<T> sum[OT * IT];
  TORCHALU_UNROLL
  for (int k = 0; k < OT * IT; ++k) sum[k] = zero<T>();
  for (int r = 0; r < rows; r += kLanes<T>) {
    vec<T> g[OT];
    TORCHALU_UNROLL
    for (int a = 0; a < OT; ++a) g[a] = load(form[a].slope + r);
    TORCHALU_UNROLL
    for (int b = 0; b < IT; ++b) {
      const vec<T> value = load(column[b] + r);
      TORCHALU_UNROLL
      for (int a = 0; a < OT; ++a) sum[a * IT + b] += g[a] * value;
    }
  }
  const auto totals = lanes_of<T>(sum_each<T>(sum));
  for (int a = 0; a < OT; ++a) totals.template add<IT>(a * IT, valid, form[a].grad_weight + i);
}

template <class T, int OT> TORCHALU_DEVICE
inline void outer_rows(const Form<T> *forms, Batch<const T> x, int in, int rows) {
  constexpr int IT = kLanes<T> / OT;
  Form<T> form[OT];
  for (int a = 0; a < OT; ++a) form[a] = forms[a];
  int i = 0;
  for (; i + IT <= in; i += IT) outer_tile<T, OT, IT>(form, x, rows, i, Exactly<IT>{});
  if (i < in) outer_tile<T, OT, IT>(form, x, rows, i, in - i);
}

}  // namespace detail

#if defined(__AVX512F__)
inline constexpr int kWideTile = 8, kTallTile = 4;
#elif defined(__CUDACC__)
inline constexpr int kWideTile = 4, kTallTile = 4;
#else
inline constexpr int kWideTile = 4, kTallTile = 2;
#endif

// The values of `count` forms, or more added to them.
template <class T> TORCHALU_OUTLINE
inline void multiply(const Form<T> *form, int count, int in, Batch<const T> x, int rows, bool accumulate = false) {
  int k = 0;
  if constexpr (kTiles)
    for (; k + 4 <= count; k += 4) detail::multiply_rows<T, 4, kTallTile>(form + k, in, x, rows, accumulate);
  if constexpr (kTiles)
    for (; k + 2 <= count; k += 2) detail::multiply_rows<T, 2, kWideTile>(form + k, in, x, rows, accumulate);
  for (; k < count; ++k) detail::multiply_rows<T, 1, kWideTile>(form + k, in, x, rows, accumulate);
}

// Adds to the gradients of the weights of `count` forms.
template <class T> TORCHALU_OUTLINE
inline void add_outer(const Form<T> *form, int count, int in, Batch<const T> x, int rows) {
  int k = 0;
  if constexpr (kTiles && kLanes<T> >= 8)
    for (; k + 4 <= count; k += 4) detail::outer_rows<T, 4>(form + k, x, in, rows);
  if constexpr (kTiles)
    for (; k + 2 <= count; k += 2) detail::outer_rows<T, 2>(form + k, x, in, rows);
  for (; k < count; ++k) detail::outer_rows<T, 1>(form + k, x, in, rows);
}

// dx += sum over the forms of w times the slope of the form.
template <class T> TORCHALU_OUTLINE
inline void add_transposed(const Form<T> *form, int count, int in, Batch<T> dx, int rows) {
  for (int i = 0; i < in; ++i)
    for (int r = 0; r < rows; r += kLanes<T>) {
      vec<T> s = load(dx[i] + r);
      for (int k = 0; k < count; ++k) s += load(form[k].slope + r) * form[k].weight[i];
      store(dx[i] + r, s);
    }
}

}  // namespace torchalu::TORCHALU_ISA
