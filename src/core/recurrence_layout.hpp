// How the parameters of a recurrence are packed, and the memory of a group.
#pragma once

#include "arena.hpp"
#include "convolution.hpp"
#include "recurrence.hpp"

namespace torchalu::TORCHALU_ISA {

// The packed parameters of a layer, or their gradients.
template <class T> struct PackedLayer {
  T *gates, *gate_bias, *candidate, *candidate_bias;
};

// Convolutions of a layer, and where the packed parameters of each layer lie.
template <class T> struct RecurrenceLayout {
  Convolution gates, candidate;
  explicit RecurrenceLayout(const RecurrenceShape &s, bool transposed = false)
      : gates{s.width, s.kernel_length, s.kernel_width, s.maps, 2 * s.maps},
        candidate{s.width, s.kernel_length, s.kernel_width, s.maps, s.maps} {
    if (transposed) gates.inputs = 2 * s.maps, gates.outputs = s.maps;
  }
  PackedLayer<T> layer(void *block, std::size_t index, std::size_t *bytes = nullptr) const {
    PackedLayer<T> packed{};
    std::size_t one = 0;
    for (int round = 0; round < 2; ++round) {  // the first only counts
      Arena arena(round ? static_cast<char *>(block) + index * one : nullptr);
      packed = {arena.take<T>(packed_size<T>(gates)), arena.take<T>(padded_outputs<T>(gates.outputs)),
                arena.take<T>(packed_size<T>(candidate)), arena.take<T>(padded_outputs<T>(candidate.outputs))};
      one = arena.used();
    }
    if (bytes) *bytes = one;
    return packed;
  }
  std::size_t bytes(const RecurrenceShape &s) const {
    std::size_t one = 0;
    layer(nullptr, 0, &one);
    return one * s.sets * s.layers;
  }
};

// What a group keeps from phase to phase. Buffers with rows of zeros around the sequences:
template <class T> struct RecurrenceWorkspace {
  T *state[2], *passed;                          // state, without `kept`; what the reset gate lets pass
  T *slope_candidate, *slope_gates, *old_state;  // gradients of pre-activations; and of the shifted state
  // and without them:
  T *gates, *candidate;               // forward, without `kept`
  T *slope_state, *slope_passed;      // backward
  std::size_t bytes;

  RecurrenceWorkspace(const RecurrenceOperands &op, const RecurrenceGroup &group, void *block) {
    Arena arena(block);
    const std::size_t row = std::size_t(op.shape.width) * op.shape.maps;
    const auto bordered = [&](bool wanted, std::size_t times) {
      return arena.take<T>(wanted ? group.rows * row * times + kBlock<T> : 0);
    };
    const auto plain = [&](bool wanted, std::size_t times) {
      return arena.take<T>(wanted ? group.positions * row * times : 0);
    };
    const bool backward = op.grad_state, own = !op.kept;
    for (T *&buffer : state) buffer = bordered(own, 1);
    passed = bordered(true, 1);
    slope_candidate = bordered(backward, 1), slope_gates = bordered(backward, 2);
    old_state = bordered(backward && op.shape.diagonal, 1);
    gates = plain(own, 2), candidate = plain(own, 1);
    slope_state = plain(backward, 1), slope_passed = plain(backward, 1);
    bytes = arena.used();
  }
};

template <class T> RecurrenceSizes recurrence_sizes(const RecurrenceOperands &op, const RecurrenceGroup &group) {
  return {RecurrenceLayout<T>(op.shape, op.grad_state).bytes(op.shape), RecurrenceLayout<T>(op.shape).bytes(op.shape),
          RecurrenceWorkspace<T>(op, group, nullptr).bytes};
}

// Packs what the forward pass multiplies by or, with `grad_state`, the backward pass: the kernels
// turned round, from outputs to inputs.
template <class T> void pack_recurrence(const RecurrenceOperands &op, void *block) {
  const RecurrenceShape &s = op.shape;
  const bool transposed = op.grad_state;
  const RecurrenceLayout<T> layout(s, transposed);
  const auto pack = [&](const Convolution &c, const T *kernel, T *packed) {
    for_each_weight<T>(c, [&](std::size_t at, int tap, int i, int o) {
      packed[at] = transposed ? kernel[(std::size_t(i) * c.outputs + o) * c.taps() + c.taps() - 1 - tap]
                              : kernel[(std::size_t(o) * c.inputs + i) * c.taps() + tap];
    });
  };
  const int m = s.maps, taps = layout.gates.taps();
  for (std::size_t k = 0; k < std::size_t(s.sets) * s.layers; ++k) {
    const PackedLayer<T> packed = layout.layer(block, k);
    pack(layout.gates, static_cast<const T *>(op.gate_weight) + k * 2 * m * m * taps, packed.gates);
    pack(layout.candidate, static_cast<const T *>(op.candidate_weight) + k * m * m * taps, packed.candidate);
    if (transposed) continue;
    __builtin_memcpy(packed.gate_bias, static_cast<const T *>(op.gate_bias) + k * 2 * m, 2 * m * sizeof(T));
    __builtin_memcpy(packed.candidate_bias, static_cast<const T *>(op.candidate_bias) + k * m, m * sizeof(T));
  }
}

// Adds up the packed gradients of `count` blocks, in their order, and unpacks them.
template <class T> void unpack_recurrence(const RecurrenceOperands &op, void *const *blocks, int count) {
  const RecurrenceShape &s = op.shape;
  const RecurrenceLayout<T> layout(s);
  const std::size_t numbers = layout.bytes(s) / sizeof(T);
  T *total = static_cast<T *>(blocks[0]);
  for (int b = 1; b < count; ++b) {
    const T *more = static_cast<const T *>(blocks[b]);
    for (std::size_t k = 0; k < numbers; ++k) total[k] += more[k];
  }
  const auto unpack = [&](const Convolution &c, const T *packed, T *kernel) {
    for_each_weight<T>(c, [&](std::size_t at, int tap, int i, int o) {
      kernel[(std::size_t(o) * c.inputs + i) * c.taps() + tap] = packed[at];
    });
  };
  const int m = s.maps, taps = layout.gates.taps();
  for (std::size_t k = 0; k < std::size_t(s.sets) * s.layers; ++k) {
    const PackedLayer<T> packed = layout.layer(total, k);
    unpack(layout.gates, packed.gates, static_cast<T *>(op.grad_gate_weight) + k * 2 * m * m * taps);
    unpack(layout.candidate, packed.candidate, static_cast<T *>(op.grad_candidate_weight) + k * m * m * taps);
    __builtin_memcpy(static_cast<T *>(op.grad_gate_bias) + k * 2 * m, packed.gate_bias, 2 * m * sizeof(T));
    __builtin_memcpy(static_cast<T *>(op.grad_candidate_bias) + k * m, packed.candidate_bias, m * sizeof(T));
  }
}

}  // namespace torchalu::TORCHALU_ISA
