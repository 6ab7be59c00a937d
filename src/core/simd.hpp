// Vectors of one register: loads, lanes, selection, and how lanes are folded and transposed.
//
// A `vec<T>` is the compiler's own vector type of the widest register that the
// translation unit is built for. Everything here lies in a namespace named after the
// instruction set, so that objects built for several of them link side by side.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device.hpp"
#include "format.hpp"

#if defined(__CUDACC__)
#include "cuda/lane.hpp"
#else

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace torchalu::TORCHALU_ISA {

#if defined(TORCHALU_WARP)
inline constexpr int kRegisterBytes = 128;  // what the 32 lanes of a warp hold together
#elif defined(__AVX512F__)
inline constexpr int kRegisterBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kRegisterBytes = 32;
#else
inline constexpr int kRegisterBytes = 16;
#endif

// Batches are padded to whole groups of this many rows on every instruction set: it is
// also the number of lanes of the random number generator.
inline constexpr int kRowGroup = 16;

// Do loops over outputs take several at once? It pays where many lie in registers.
inline constexpr bool kTiles = true;

template <class T> struct vec_of;
template <> struct vec_of<float> {
  typedef float type __attribute__((vector_size(kRegisterBytes)));
  typedef std::int32_t bits __attribute__((vector_size(kRegisterBytes)));
};
template <> struct vec_of<double> {
  typedef double type __attribute__((vector_size(kRegisterBytes)));
  typedef std::int64_t bits __attribute__((vector_size(kRegisterBytes)));
};
template <class T> using vec = typename vec_of<T>::type;
template <class T> using bits = typename vec_of<T>::bits;
template <class T> inline constexpr int kLanes = kRegisterBytes / int(sizeof(T));

template <class T> inline vec<T> load(const T *p) {
  typedef vec<T> any __attribute__((may_alias));
  return *reinterpret_cast<const any *>(p);
}
template <class T> inline void store(T *p, vec<T> v) {
  typedef vec<T> any __attribute__((may_alias));
  *reinterpret_cast<any *>(p) = v;
}
template <class T> inline vec<T> broadcast(T x) { return x - vec<T>{}; }
template <class T> inline vec<T> zero() { return vec<T>{}; }

template <class T> inline bits<T> to_bits(vec<T> v) { return reinterpret_cast<bits<T>>(v); }
template <class T> inline vec<T> from_bits(bits<T> v) { return reinterpret_cast<vec<T>>(v); }

template <class T> inline vec<T> select(bits<T> mask, vec<T> yes, vec<T> no) {
  return mask ? yes : no;
}
template <class T> inline vec<T> minimum(vec<T> a, vec<T> b) { return select<T>(a < b, a, b); }
template <class T> inline vec<T> maximum(vec<T> a, vec<T> b) { return select<T>(a > b, a, b); }

// Whole numbers of 32 bits as floats.
template <class T> inline vec<T> converted(bits<T> k) { return __builtin_convertvector(k, vec<T>); }

template <class T> constexpr T infinity() { return T(__builtin_inf()); }
inline double not_a_number() { return __builtin_nan(""); }
inline double root(double x) { return __builtin_sqrt(x); }

// Written lane by lane, which compilers turn into one instruction.
template <class T> inline vec<T> square_root(vec<T> x) {
  alignas(kRegisterBytes) T lanes[kLanes<T>];
  store(lanes, x);
  for (T &lane : lanes) {
    if constexpr (sizeof(T) == 4) lane = __builtin_sqrtf(lane);
    else lane = __builtin_sqrt(lane);
  }
  return load(lanes);
}

// a ^ b ^ c, which AVX-512 has as one instruction that compilers miss.
template <class Bits> inline Bits xor3(Bits a, Bits b, Bits c) {
#if defined(__AVX512F__)
  return reinterpret_cast<Bits>(_mm512_ternarylogic_epi32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b),
                                                          reinterpret_cast<__m512i>(c), 0x96));
#else
  return a ^ b ^ c;
#endif
}

template <class T> inline vec<T> absolute(vec<T> x) {
  return from_bits<T>(to_bits<T>(x) & ~format<T>::sign);
}
// -1, 0 or 1, as torch.sign.
template <class T> inline vec<T> sign(vec<T> x) {
  const vec<T> one = broadcast(T(1)), none = zero<T>();
  return select<T>(x > none, one, select<T>(x < none, -one, none));
}

// The numbers 0 .. N - 1 as a parameter pack.
template <int... L> struct Sequence {};
template <int N, int... L> struct sequence_of : sequence_of<N - 1, N - 1, L...> {};
template <int... L> struct sequence_of<0, L...> { using type = Sequence<L...>; };
template <class T> using lane_sequence = typename sequence_of<kLanes<T>>::type;

// Lanes of a (numbered from 0) and of b (from kLanes) in the order given.
template <class T, int... Lane> inline vec<T> shuffle(vec<T> a, vec<T> b) {
#if defined(__clang__) || __GNUC__ >= 12
  return __builtin_shufflevector(a, b, Lane...);
#else
  return __builtin_shuffle(a, b, bits<T>{Lane...});
#endif
}

// Lanes of a and b in turns, from the first half of both and from the second.
template <class T, int... L> inline void interleave(vec<T> a, vec<T> b, vec<T> &low, vec<T> &high, Sequence<L...>) {
  constexpr int n = kLanes<T>;
  low = shuffle<T, (L / 2 + (L % 2 ? n : 0))...>(a, b);
  high = shuffle<T, (L / 2 + n / 2 + (L % 2 ? n : 0))...>(a, b);
}

// In groups of H lanes: each group of a at an even place plus its neighbor, each group of b at an
// odd place plus its neighbor.
template <class T, int H, int... L> inline vec<T> fold(vec<T> a, vec<T> b, Sequence<L...>) {
  constexpr int n = kLanes<T>;
  return shuffle<T, (L / H % 2 ? n + L : L)...>(a, b) + shuffle<T, (L / H % 2 ? n + L - H : L + H)...>(a, b);
}

// Transposes a square of kLanes vectors: after each round, what stood half a square apart stands
// side by side.
template <class T> inline void transpose(vec<T> (&v)[kLanes<T>]) {
  constexpr int n = kLanes<T>;
  vec<T> next[n];
  for (int round = 1; round < n; round *= 2) {
    for (int i = 0; i < n / 2; ++i) interleave<T>(v[i], v[i + n / 2], next[2 * i], next[2 * i + 1], lane_sequence<T>{});
    for (int i = 0; i < n; ++i) v[i] = next[i];
  }
}

// K with its lowest log2(N) bits in reverse order. A constant, since compilers leave a function to
// be called when the program runs.
template <int K, int N> inline constexpr int kReversedBits = K % 2 * (N / 2) + kReversedBits<K / 2, N / 2>;
template <int K> inline constexpr int kReversedBits<K, 1> = 0;

// Folds Count vectors into one by halves of lanes; vector K ends in lane kReversedBits<K, Count>.
template <class T, int Count = kLanes<T>> inline vec<T> fold_all(const vec<T> *v) {
  if constexpr (Count == 1) {
    return v[0];
  } else {
    vec<T> next[Count / 2];
#pragma GCC unroll 16
    for (int i = 0; i < Count / 2; ++i) next[i] = fold<T, Count / 2>(v[2 * i], v[2 * i + 1], lane_sequence<T>{});
    return fold_all<T, Count / 2>(next);
  }
}

// One vector whose lane l is the sum over the lanes of v[l].
template <class T, int... L> inline vec<T> sum_each(const vec<T> *v, Sequence<L...>) {
  const vec<T> ordered[] = {v[kReversedBits<L, kLanes<T>>]...};
  return fold_all<T>(ordered);
}
template <class T> inline vec<T> sum_each(const vec<T> *v) { return sum_each<T>(v, lane_sequence<T>{}); }

template <class T, int H = kLanes<T> / 2> inline T sum(vec<T> v) {
  if constexpr (H == 0) return v[0];
  else return sum<T, H / 2>(fold<T, H>(v, v, lane_sequence<T>{}));
}

// What lanes share with each other is theirs after this: here they are one thread.
inline void join() {}

// Of all lanes that run the same code, is this the one that does what is done once?
inline bool leads() { return true; }

// f(0) .. f(count - 1), in any order, of which no two touch the same memory.
template <class Count, class F> inline void for_each_value(Count count, F &&f) {
  for (Count k = 0; k < count; ++k) f(k);
}

// The first lanes from memory that need not be aligned, at most `count`; the others hold 0.
template <class T> inline vec<T> load_some(const T *p, std::size_t count) {
  vec<T> v{};
  if (count >= std::size_t(kLanes<T>)) __builtin_memcpy(&v, p, sizeof v);
  else
    for (std::size_t l = 0; l < count; ++l) v[l] = p[l];
  return v;
}
template <class T> inline void store_some(T *p, vec<T> v, std::size_t count) {
  if (count >= std::size_t(kLanes<T>)) __builtin_memcpy(p, &v, sizeof v);
  else
    for (std::size_t l = 0; l < count; ++l) p[l] = v[l];
}

// One vector whose lane l is the sum over the lanes of v<l>(), which are called in order.
template <class T, class F, int... L> inline vec<T> sums_of(F &&v, Sequence<L...>) {
  const vec<T> all[] = {v.template operator()<L>()...};
  return sum_each<T>(all);
}
template <class T, class F> inline vec<T> sums_of(F &&v) { return sums_of<T>(v, lane_sequence<T>{}); }

// A vector whose lanes are added to memory one by one.
template <class T> struct LaneSums {
  alignas(kRegisterBytes) T total[kLanes<T>];
  // Lanes begin .. begin + valid, of at most N.
  template <int N> void add(int begin, int valid, T *to) const {
    if (valid == N)
      for (int b = 0; b < N; ++b) to[b] += total[begin + b];
    else
      for (int b = 0; b < valid; ++b) to[b] += total[begin + b];
  }
};
template <class T> inline LaneSums<T> lanes_of(vec<T> v) {
  LaneSums<T> sums;
  store(sums.total, v);
  return sums;
}
template <class T> inline void add_sum(vec<T> v, T *to) { *to += sum<T>(v); }

}  // namespace torchalu::TORCHALU_ISA

#endif
