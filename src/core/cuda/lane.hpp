// A warp as one more instruction set: what simd.hpp has as a vector of 32 lanes is on a GPU a number
// in each of 32 threads.
//
// A block is one warp. `load` and `store` touch each lane's own number; memory that other lanes read
// is theirs after `join`.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "../device.hpp"
#include "../format.hpp"

namespace torchalu::TORCHALU_ISA {

inline constexpr int kRegisterBytes = 128, kRowGroup = 16;
inline constexpr bool kTiles = false;

template <class T> struct vec_of;
template <> struct vec_of<float> {
  using type = float;
  using bits = std::int32_t;
};
template <class T> using vec = typename vec_of<T>::type;
template <class T> using bits = typename vec_of<T>::bits;
template <class T> inline constexpr int kLanes = 32;

// The host only counts memory with this code; it never runs it.
TORCHALU_DEVICE inline int lane() {
#if defined(__CUDA_ARCH__)
  return int(threadIdx.x);
#else
  return 0;
#endif
}
TORCHALU_DEVICE inline void join() {
#if defined(__CUDA_ARCH__)
  __syncwarp();
#endif
}
TORCHALU_DEVICE inline bool leads() { return lane() == 0; }
template <class T> TORCHALU_DEVICE inline T from_lane_across(T v, int mask) {
#if defined(__CUDA_ARCH__)
  return __shfl_xor_sync(0xffffffffu, v, mask);
#else
  return v;
#endif
}

template <class T> TORCHALU_DEVICE inline vec<T> load(const T *p) { return p[lane()]; }
template <class T> TORCHALU_DEVICE inline void store(T *p, vec<T> v) { p[lane()] = v; }
template <class T> TORCHALU_DEVICE inline vec<T> load_some(const T *p, std::size_t count) {
  return std::size_t(lane()) < count ? p[lane()] : T(0);
}
template <class T> TORCHALU_DEVICE inline void store_some(T *p, vec<T> v, std::size_t count) {
  if (std::size_t(lane()) < count) p[lane()] = v;
}
template <class T> TORCHALU_DEVICE inline vec<T> broadcast(T x) { return x; }
template <class T> TORCHALU_DEVICE inline vec<T> zero() { return T(0); }

template <class T> TORCHALU_DEVICE inline bits<T> to_bits(vec<T> v) {
#if defined(__CUDA_ARCH__)
  return __float_as_int(v);
#else
  return bits<T>(v);
#endif
}
template <class T> TORCHALU_DEVICE inline vec<T> from_bits(bits<T> v) {
#if defined(__CUDA_ARCH__)
  return __int_as_float(v);
#else
  return vec<T>(v);
#endif
}
template <class T> TORCHALU_DEVICE inline vec<T> converted(bits<T> k) { return T(k); }

template <class T> TORCHALU_DEVICE constexpr T infinity() { return T(INFINITY); }
TORCHALU_DEVICE inline double not_a_number() { return double(NAN); }
TORCHALU_DEVICE inline double root(double x) { return ::sqrt(x); }

template <class T> TORCHALU_DEVICE inline vec<T> select(bool mask, vec<T> yes, vec<T> no) { return mask ? yes : no; }
template <class T> TORCHALU_DEVICE inline vec<T> minimum(vec<T> a, vec<T> b) { return a < b ? a : b; }
template <class T> TORCHALU_DEVICE inline vec<T> maximum(vec<T> a, vec<T> b) { return a > b ? a : b; }
template <class T> TORCHALU_DEVICE inline vec<T> square_root(vec<T> x) { return ::sqrtf(x); }
template <class T> TORCHALU_DEVICE inline vec<T> absolute(vec<T> x) { return ::fabsf(x); }
template <class T> TORCHALU_DEVICE inline vec<T> sign(vec<T> x) { return x > T(0) ? T(1) : x < T(0) ? T(-1) : T(0); }

// f(0) .. f(count - 1), divided among the lanes, of which no two touch the same memory.
template <class Count, class F> TORCHALU_DEVICE inline void for_each_value(Count count, F &&f) {
  join();
  for (Count k = Count(lane()); k < count; k += 32) f(k);
  join();
}

// The same sum in every lane.
template <class T> TORCHALU_DEVICE inline T sum(vec<T> v) {
  for (int mask = 16; mask > 0; mask /= 2) v += from_lane_across(v, mask);
  return v;
}

// Of a and b the sums over pairs of lanes that lie `mask` apart: of a where the bit is not set, of b
// where it is.
template <class T> TORCHALU_DEVICE inline vec<T> fold(vec<T> a, vec<T> b, int mask) {
  const bool upper = lane() & mask;
  return (upper ? b : a) + from_lane_across(upper ? a : b, mask);
}
// Lane l gets the sum over all lanes of v<l>(), which are called in order.
template <class T, int First = 0, int Count = 32, class F> TORCHALU_DEVICE inline vec<T> sums_of(F &&v) {
  if constexpr (Count == 1) {
    return v.template operator()<First>();
  } else {
    const vec<T> low = sums_of<T, First, Count / 2>(v), high = sums_of<T, First + Count / 2, Count / 2>(v);
    return fold<T>(low, high, Count / 2);
  }
}
template <class T> TORCHALU_DEVICE inline vec<T> sum_each(const vec<T> *v) {
  return sums_of<T>([&]<int K>() { return v[K]; });
}

// A vector whose lanes are added to memory one by one.
template <class T> struct LaneSums {
  T total;
  template <int N> TORCHALU_DEVICE void add(int begin, int valid, T *to) const {
    const int l = lane() - begin;
    join();  // it may have been another lane's turn before
    if (l >= 0 && l < valid) to[l] += total;
  }
};
template <class T> TORCHALU_DEVICE inline LaneSums<T> lanes_of(vec<T> v) { return {v}; }
template <class T> TORCHALU_DEVICE inline void add_sum(vec<T> v, T *to) {
  const T total = sum<T>(v);
  join();
  if (leads()) *to += total;
}

}  // namespace torchalu::TORCHALU_ISA
