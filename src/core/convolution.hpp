// Products of rows of cells with the kernels of a convolution, and of two such rows over positions.
//
// A row holds the cells of one position, `width` of them, the channels of a cell side by side.
// Rows lie one after another, with rows of zeros around those of a sequence, so that a place of
// the kernel is a constant offset; over the width, places outside of the row are left out.
#pragma once

#include "simd.hpp"

namespace torchalu::TORCHALU_ISA {

// Half a register, where a whole one would be much for what is left.
#if defined(__AVX512F__)
inline constexpr bool kHasHalf = true;
#else
inline constexpr bool kHasHalf = false;
#endif
template <class T> inline constexpr int kStep = kHasHalf ? kLanes<T> / 2 : kLanes<T>;
template <class T> struct half_of {
  typedef T type __attribute__((vector_size(sizeof(T) * kStep<T>)));
};
template <class T> using half = typename half_of<T>::type;

// Rows of a tile of sums, and its vectors: as many as the registers hold.
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int kTile = 8;
#else
inline constexpr int kTile = 4;
#endif
inline constexpr int kTileVectors = 3;
template <class T> inline constexpr int kBlock = kTileVectors * kLanes<T>;

// Loads and stores at any address, of vectors of any length and of numbers.
template <class V, class T> inline V get(const T *p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class V, class T> inline void put(T *p, V v) { __builtin_memcpy(p, &v, sizeof v); }

// Calls body<V>(j) for all columns j .. j + lanes of V in turn: whole registers, half ones, numbers.
template <class T, class Body> inline void for_columns(int count, Body &&body) {
  int j = 0;
  for (; j + kLanes<T> <= count; j += kLanes<T>) body.template operator()<vec<T>>(j);
  if constexpr (kHasHalf)
    for (; j + kStep<T> <= count; j += kStep<T>) body.template operator()<half<T>>(j);
  for (; j < count; ++j) body.template operator()<T>(j);
}

// A convolution from `inputs` to `outputs` channels. Its packed kernel has the outputs in blocks
// of kBlock, the last one as narrow as it may be; in a block [length][width][inputs][outputs].
struct Convolution {
  int width, kernel_length, kernel_width, inputs, outputs;
  int taps() const { return kernel_length * kernel_width; }
};
template <class T> inline int padded_outputs(int outputs) { return (outputs + kStep<T> - 1) / kStep<T> * kStep<T>; }
template <class T> inline std::size_t packed_size(const Convolution &c) {
  return std::size_t(c.taps()) * c.inputs * padded_outputs<T>(c.outputs);
}
// Calls body(packed index, tap, input, output) for all weights, those of the padding left out.
template <class T, class Body> inline void for_each_weight(const Convolution &c, Body &&body) {
  const int padded = padded_outputs<T>(c.outputs);
  std::size_t at = 0;
  for (int first = 0; first < padded; first += kBlock<T>) {
    const int lanes = padded - first < kBlock<T> ? padded - first : kBlock<T>;
    for (int tap = 0; tap < c.taps(); ++tap)
      for (int i = 0; i < c.inputs; ++i, at += lanes)
        for (int o = first; o < first + lanes && o < c.outputs; ++o) body(at + (o - first), tap, i, o);
  }
}

// Columns of the kernel that do not leave the row at column w.
struct Columns {
  int begin, end;
  Columns(const Convolution &c, int w) {
    const int reach = c.kernel_width / 2;
    begin = w < reach ? reach - w : 0;
    end = c.width - w + reach < c.kernel_width ? c.width - w + reach : c.kernel_width;
  }
};

// The sums of a tile: R rows of V vectors and, if H, a half one.
template <class T, int R, int V, bool H> struct Tile {
  static constexpr int kWidth = V * kLanes<T> + (H ? kStep<T> : 0);
  vec<T> whole[R][V ? V : 1];
  half<T> rest[R];

  template <class From> void set(From &&from) {  // from(row) points to kWidth numbers
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const T *p = from(r);
#pragma GCC unroll 3
      for (int v = 0; v < V; ++v) whole[r][v] = get<vec<T>>(p + v * kLanes<T>);
      if constexpr (H) rest[r] = get<half<T>>(p + V * kLanes<T>);
    }
  }
  void clear() {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 3
      for (int v = 0; v < V; ++v) whole[r][v] = zero<T>();
      if constexpr (H) rest[r] = half<T>{};
    }
  }
  // Adds the outer product of x(row) and the numbers at w.
  template <class X> void add(X &&x, const T *w) {
    vec<T> column[V ? V : 1];
    half<T> last{};
#pragma GCC unroll 3
    for (int v = 0; v < V; ++v) column[v] = get<vec<T>>(w + v * kLanes<T>);
    if constexpr (H) last = get<half<T>>(w + V * kLanes<T>);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const T value = x(r);
#pragma GCC unroll 3
      for (int v = 0; v < V; ++v) whole[r][v] += column[v] * value;
      if constexpr (H) rest[r] += last * value;
    }
  }
  void row_to(int r, T *p) const {
#pragma GCC unroll 3
    for (int v = 0; v < V; ++v) put(p + v * kLanes<T>, whole[r][v]);
    if constexpr (H) put(p + V * kLanes<T>, rest[r]);
  }
};

// Calls body<V, H>() for a block of so many lanes.
template <class T, class Body> inline void with_block(int lanes, Body &&body) {
  if constexpr (kHasHalf) {
    switch (lanes / kStep<T>) {
      case 1: return body.template operator()<0, true>();
      case 2: return body.template operator()<1, false>();
      case 3: return body.template operator()<1, true>();
      case 4: return body.template operator()<2, false>();
      case 5: return body.template operator()<2, true>();
      default: return body.template operator()<3, false>();
    }
  } else {
    switch (lanes / kStep<T>) {
      case 1: return body.template operator()<1, false>();
      case 2: return body.template operator()<2, false>();
      default: return body.template operator()<3, false>();
    }
  }
}
// Calls body<R>(first) for tiles of R that cover [begin, end).
template <class Body> inline void for_tiles(std::int64_t begin, std::int64_t end, Body &&body) {
  std::int64_t at = begin;
  for (; at + kTile <= end; at += kTile) body.template operator()<kTile>(at);
  if constexpr (kTile > 4)
    if (at + 4 <= end) body.template operator()<4>(at), at += 4;
  if (at + 2 <= end) body.template operator()<2>(at), at += 2;
  if (at < end) body.template operator()<1>(at);
}

// What a product starts from: nothing, a bias, or the numbers that are there.
enum class Start { kZero, kBias, kSum };

// Outputs of positions [begin, end), whose rows of the input are numbered by `row`; the output has
// no other rows. `bias` has padded_outputs.
template <class T>
inline void convolve(const Convolution &c, const T *packed, Start start, const T *bias, const T *input,
                     const std::int32_t *row, std::int64_t begin, std::int64_t end, T *output) {
  const int padded = padded_outputs<T>(c.outputs), reach = c.kernel_length / 2;
  for (int first = 0; first < padded; first += kBlock<T>) {
    const int lanes = padded - first < kBlock<T> ? padded - first : kBlock<T>;
    const T *block = packed + std::size_t(c.taps()) * c.inputs * first;
    const bool whole = first + lanes <= c.outputs;
    with_block<T>(lanes, [&]<int V, bool H>() {
      constexpr int kWidth = Tile<T, 1, V, H>::kWidth;
      for (int l = 0; l < c.kernel_length; ++l)  // a part of the kernel that stays in the nearest cache
        for (int w = 0; w < c.width; ++w) {
          const Columns columns(c, w);
          const int terms = (columns.end - columns.begin) * c.inputs;
          const T *weight = block + std::size_t(l * c.kernel_width + columns.begin) * c.inputs * kWidth;
          const std::ptrdiff_t shift =
              (std::ptrdiff_t(l - reach) * c.width + w - c.kernel_width / 2 + columns.begin) * c.inputs;
          for_tiles(begin, end, [&]<int R>(std::int64_t p) {
            Tile<T, R, V, H> tile;
            const T *x[R];
            for (int r = 0; r < R; ++r) x[r] = input + std::ptrdiff_t(row[p + r]) * c.width * c.inputs + shift;
            T *out = output + (p * c.width + w) * c.outputs + first;
            const std::ptrdiff_t stride = std::ptrdiff_t(c.width) * c.outputs;
            alignas(64) T edge[R][kWidth];  // of a block that is wider than what is left of the outputs
            const std::size_t left = (c.outputs - first) * sizeof(T);
            if (l > 0 || start == Start::kSum) {
              if (!whole)
                for (int r = 0; r < R; ++r) __builtin_memcpy(edge[r], out + r * stride, left);
              tile.set([&](int r) { return whole ? out + r * stride : edge[r]; });
            } else if (start == Start::kBias) {
              tile.set([&](int) { return bias + first; });
            } else {
              tile.clear();
            }
            const T *at = weight;
            for (int k = 0; k < terms; ++k, at += kWidth) tile.add([&](int r) { return x[r][k]; }, at);
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r) {
              if (whole) {
                tile.row_to(r, out + r * stride);
              } else {
                tile.row_to(r, edge[r]);
                __builtin_memcpy(out + r * stride, edge[r], left);
              }
            }
          });
        }
    });
  }
}

// Adds to the gradient of a packed kernel: the products of inputs and of gradients of the outputs,
// both of them with their rows numbered by `row`, over positions [begin, end). kBlock numbers
// behind the gradients may be read.
template <class T>
inline void add_outer_products(const Convolution &c, const T *input, const T *slope, const std::int32_t *row,
                               std::int64_t begin, std::int64_t end, T *packed) {
  const int padded = padded_outputs<T>(c.outputs), reach = c.kernel_length / 2;
  for (int first = 0; first < padded; first += kBlock<T>) {
    const int lanes = padded - first < kBlock<T> ? padded - first : kBlock<T>;
    T *block = packed + std::size_t(c.taps()) * c.inputs * first;
    with_block<T>(lanes, [&]<int V, bool H>() {
      constexpr int kWidth = Tile<T, 1, V, H>::kWidth;
      for (int tap = 0; tap < c.taps(); ++tap) {
        const int l = tap / c.kernel_width, column = tap % c.kernel_width, over = column - c.kernel_width / 2;
        const int first_w = over < 0 ? -over : 0, last_w = over > 0 ? c.width - over : c.width;
        if (first_w >= last_w) continue;
        for_tiles(0, c.inputs, [&]<int R>(std::int64_t i) {
          Tile<T, R, V, H> tile;
          T *sum = block + (std::size_t(tap) * c.inputs + i) * kWidth;
          tile.set([&](int r) { return sum + r * kWidth; });
          for (int w = first_w; w < last_w; ++w) {
            const T *x = input + (std::ptrdiff_t(l - reach) * c.width + w + over) * c.inputs + i;
            const T *g = slope + std::ptrdiff_t(w) * c.outputs + first;
            for (std::int64_t p = begin; p < end; ++p) {
              const std::ptrdiff_t cell = std::ptrdiff_t(row[p]) * c.width;
              const T *values = x + cell * c.inputs;
              tile.add([&](int r) { return values[r]; }, g + cell * c.outputs);
            }
          }
#pragma GCC unroll 8
          for (int r = 0; r < R; ++r) tile.row_to(r, sum + r * kWidth);
        });
      }
    });
  }
}

}  // namespace torchalu::TORCHALU_ISA
