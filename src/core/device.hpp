// How a function is marked that a GPU runs as well (OUTLINE: there it is called, not copied into its
// callers; INLINE: copied everywhere), and a loop that is unrolled whole.
#pragma once

#if defined(__CUDACC__)
#define TORCHALU_DEVICE __host__ __device__
#define TORCHALU_OUTLINE __host__ __device__ __noinline__
#define TORCHALU_INLINE __host__ __device__ __forceinline__
#define TORCHALU_UNROLL _Pragma("unroll")
#else
#define TORCHALU_DEVICE
#define TORCHALU_OUTLINE
#define TORCHALU_INLINE inline __attribute__((always_inline))
#define TORCHALU_UNROLL _Pragma("GCC unroll 32")
#endif
