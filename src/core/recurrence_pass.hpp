// One part of a recurrence: some positions of a group, one layer, one step.
#pragma once

#include "recurrence_cells.hpp"
#include "recurrence_layout.hpp"

namespace torchalu::TORCHALU_ISA {

template <class T> class RecurrencePass {
 public:
  RecurrencePass(const RecurrenceOperands &op, const RecurrenceGroup &group, const RecurrencePart &part,
                 const RecurrenceMemory &memory)
      : op_(op), shape_(op.shape), group_(group), part_(part), memory_(memory), work_(op, group, memory.workspace),
        layout_(op.shape, op.grad_state), gate_(op.shape.cutoff), rounding_(op.shape.levels), row_(shape_.width * shape_.maps),
        last_(part.layer == shape_.layers - 1) {
    const std::size_t index = (part.step % shape_.sets) * shape_.layers + part.layer;
    weights_ = layout_.layer(const_cast<void *>(memory.packed), index);
    if (memory.gradient) gradients_ = RecurrenceLayout<T>(shape_).layer(memory.gradient, index);
    here_ = slab(part.step, part.layer);
  }

  void run() const {
    switch (part_.phase) {
      case Phase::kStart: return start();
      case Phase::kGates: return shape_.diagonal ? diagonal_gates() : cgru_gates();
      case Phase::kCandidate: return shape_.diagonal ? diagonal_candidate() : cgru_candidate();
      case Phase::kNewState: return shape_.diagonal ? diagonal_new_state() : cgru_new_state();
      case Phase::kCandidateBack: return shape_.diagonal ? diagonal_candidate_back() : cgru_candidate_back();
      case Phase::kGatesBack: return gates_back();
    }
  }

 private:
  struct Slab {
    T *state, *gates, *candidate;
  };

  Slab slab(std::int64_t step, int layer) const {
    if (!op_.kept) return {work_.state[(step * shape_.layers + layer) % 2], work_.gates, work_.candidate};
    const RecurrenceStep &s = group_.steps[step];
    T *at = static_cast<T *>(op_.kept) + s.kept + layer * s.stride;
    return {at, at + s.gates, at + s.candidate};
  }

  // The sequence of position p, p's place in it, and where the place's row is in the batch.
  const RecurrenceSequence &sequence(std::int64_t p) const { return group_.sequences[group_.sequence[p]]; }
  std::size_t in_batch(const RecurrenceSequence &s, std::int64_t p) const {
    return std::size_t(s.number * op_.length + p - s.position) * row_;
  }
  T *bordered(T *buffer, std::int64_t p, int times = 1) const {
    return buffer + std::size_t(group_.row[p]) * row_ * times;
  }

  Dropout<T> dropout(const RecurrenceSequence &s, std::int64_t step) const {
    if (!op_.keep) return {};
    return {step_word(op_.key, s.number, step), op_.keep[s.number]};
  }
  std::uint32_t element(const RecurrenceSequence &s, std::int64_t p) const {
    return std::uint32_t((p - s.position) * row_);
  }

  template <class Body> void for_positions(Body &&body) const {
    for (std::int64_t p = part_.begin; p < part_.end; ++p) body(p, sequence(p));
  }
  // Calls body<V>(cell, cell among rows of zeros, map) for the cells of all positions.
  template <class Body> void for_cells(Body &&body) const {
    for (std::int64_t p = part_.begin; p < part_.end; ++p)
      for (int w = 0; w < shape_.width; ++w) {
        const std::size_t cell = std::size_t(p) * shape_.width + w, at = std::size_t(group_.row[p]) * shape_.width + w;
        for_columns<T>(shape_.maps, [&]<class V>(int j) { body.template operator()<V>(cell, at, j); });
      }
  }

  // Rows of zeros before the sequence that p begins, and behind the last that takes the step.
  void clear_borders(T *state, std::int64_t p, const RecurrenceSequence &s, std::int64_t step) const {
    const std::size_t size = std::size_t(group_.border) * row_;
    if (p == s.position) fill_zero(bordered(state, p) - size, size);
    if (p + 1 == group_.steps[step].positions) fill_zero(bordered(state, p) + row_, size);
  }
  static void fill_zero(T *p, std::size_t count) { __builtin_memset(p, 0, count * sizeof(T)); }

  void start() const {
    for_positions([&](std::int64_t p, const RecurrenceSequence &s) {
      const T *from = static_cast<const T *>(op_.state) + in_batch(s, p);
      T *to = bordered(here_.state, p);
      const Dropout<T> drop = shape_.diagonal ? Dropout<T>() : dropout(s, 0);
      for_columns<T>(row_, [&]<class V>(int j) {
        put(to + j, V(get<V>(from + j) * drop.template factor<V>(element(s, p) + j)));
      });
      clear_borders(here_.state, p, s, 0);
    });
  }

  T *cells(T *buffer, int channels) const { return buffer + std::size_t(part_.begin) * shape_.width * channels; }
  std::int64_t cell_count() const { return (part_.end - part_.begin) * shape_.width; }

  void multiply_gates() const {
    convolve<T>(layout_.gates, weights_.gates, Start::kBias, weights_.gate_bias, here_.state, group_.row, part_.begin,
                part_.end, here_.gates);
    add_noise(here_.gates, 2 * shape_.maps, 2 * part_.layer + 1);
  }
  void multiply_candidate() const {
    convolve<T>(layout_.candidate, weights_.candidate, Start::kBias, weights_.candidate_bias, work_.passed, group_.row,
                part_.begin, part_.end, here_.candidate);
    add_noise(here_.candidate, shape_.maps, 2 * part_.layer + 2);
  }
  void add_noise(T *buffer, int channels, int stream) const {
    if (op_.noise == 0) return;
    const int row = shape_.width * channels;
    for_positions([&](std::int64_t p, const RecurrenceSequence &s) {
      const Noise<T> noise(step_word(op_.key, s.number, part_.step), stream, T(op_.noise));
      const std::uint32_t element = std::uint32_t((p - s.position) * row);
      T *at = buffer + std::size_t(p) * row;
      for_columns<T>(row, [&]<class V>(int j) { put(at + j, V(get<V>(at + j) + noise.template value<V>(element + j))); });
    });
  }

  void cgru_gates() const {
    const int m = shape_.maps;
    multiply_gates();
    apply_to_all(cells(here_.gates, 2 * m), cell_count() * 2 * m, [](vec<T> x) { return sigmoid<T>(x); });
    for_cells([&]<class V>(std::size_t cell, std::size_t at, int j) {
      const V s = get<V>(here_.state + at * m + j), r = gate_.value(get<V>(here_.gates + cell * 2 * m + j));
      put(work_.passed + at * m + j, V(r * s));
    });
  }

  // Where the new state of p goes: to the next layer or step, or out.
  T *new_state(const RecurrenceSequence &s, std::int64_t p) const {
    if (last_ && part_.step + 1 == s.steps) return static_cast<T *>(op_.output) + in_batch(s, p);
    const std::int64_t step = part_.step + last_;
    T *state = slab(step, last_ ? 0 : part_.layer + 1).state;
    clear_borders(state, p, s, step);
    return bordered(state, p);
  }

  void cgru_candidate() const {
    const int m = shape_.maps;
    multiply_candidate();
    apply_to_all(cells(here_.candidate, m), cell_count() * m, [](vec<T> x) { return tanh<T>(x); });
    for_positions([&](std::int64_t p, const RecurrenceSequence &q) {
      T *to = new_state(q, p);
      const bool drops = last_ && part_.step + 1 < q.steps;
      const Dropout<T> drop = drops ? dropout(q, part_.step + 1) : Dropout<T>();
      for (int w = 0; w < shape_.width; ++w) {
        const T *state = bordered(here_.state, p) + w * m;
        const std::size_t cell = std::size_t(p) * shape_.width + w;
        for_columns<T>(m, [&]<class V>(int j) {
          const V u = gate_.value(get<V>(here_.gates + cell * 2 * m + m + j)), s = get<V>(state + j),
                  c = get<V>(here_.candidate + cell * m + j);
          put(to + w * m + j, V(rounding_.value(V(u * (s - c) + c)) * drop.template factor<V>(element(q, p) + w * m + j)));
        });
      }
    });
  }

  // Gradient by the new state of p: from behind, or from the output.
  const T *new_slope(const RecurrenceSequence &s, std::int64_t p) const {
    if (last_ && part_.step + 1 == s.steps) return static_cast<const T *>(op_.grad_output) + in_batch(s, p);
    return work_.slope_state + std::size_t(p) * row_;
  }

  void cgru_new_state() const {
    const int m = shape_.maps;
    for_positions([&](std::int64_t p, const RecurrenceSequence &q) {
      const T *from = new_slope(q, p);
      for (int w = 0; w < shape_.width; ++w) {
        const std::size_t cell = std::size_t(p) * shape_.width + w, at = std::size_t(group_.row[p]) * shape_.width + w;
        for_columns<T>(m, [&]<class V>(int j) {
          const T *gates = here_.gates + cell * 2 * m + j;
          const V g = get<V>(from + w * m + j), s = get<V>(here_.state + at * m + j),
                  c = get<V>(here_.candidate + cell * m + j), open = get<V>(gates + m), u = gate_.value(open);
          put(work_.passed + at * m + j, V(gate_.value(get<V>(gates)) * s));
          put(work_.slope_candidate + at * m + j, V(g * (T(1) - u) * (T(1) - c * c)));
          put(work_.slope_gates + at * 2 * m + m + j, V(g * (s - c) * gate_.slope(open)));
          put(work_.slope_state + cell * m + j, V(g * u));
        });
      }
    });
  }

  // Gradient by what the reset gate let pass, and by the candidate's parameters.
  void candidate_back() const {
    convolve<T>(layout_.candidate, weights_.candidate, Start::kZero, nullptr, work_.slope_candidate, group_.row,
                part_.begin, part_.end, work_.slope_passed);
    const RecurrenceLayout<T> forward(shape_);
    add_outer_products<T>(forward.candidate, work_.passed, work_.slope_candidate, group_.row, part_.begin, part_.end,
                          gradients_.candidate);
    add_bias(work_.slope_candidate, shape_.maps, gradients_.candidate_bias);
  }
  void add_bias(const T *slope, int channels, T *bias) const {
    for_columns<T>(channels, [&]<class V>(int j) {
      V sum = get<V>(bias + j);
      for (std::int64_t p = part_.begin; p < part_.end; ++p)
        for (int w = 0; w < shape_.width; ++w)
          sum += get<V>(slope + (std::size_t(group_.row[p]) * shape_.width + w) * channels + j);
      put(bias + j, sum);
    });
  }

  void cgru_candidate_back() const {
    const int m = shape_.maps;
    candidate_back();
    for_cells([&]<class V>(std::size_t cell, std::size_t at, int j) {
      const V g = get<V>(work_.slope_passed + cell * m + j), s = get<V>(here_.state + at * m + j),
              open = get<V>(here_.gates + cell * 2 * m + j);
      put(work_.slope_gates + at * 2 * m + j, V(g * s * gate_.slope(open)));
      T *to = work_.slope_state + cell * m + j;
      put(to, V(get<V>(to) + g * gate_.value(open)));
    });
  }

  void gates_back() const {
    convolve<T>(layout_.gates, weights_.gates, Start::kSum, nullptr, work_.slope_gates, group_.row, part_.begin,
                part_.end, work_.slope_state);
    const RecurrenceLayout<T> forward(shape_);
    add_outer_products<T>(forward.gates, here_.state, work_.slope_gates, group_.row, part_.begin, part_.end,
                          gradients_.gates);
    add_bias(work_.slope_gates, 2 * shape_.maps, gradients_.gate_bias);
    const bool first = part_.layer == 0, start = first && part_.step == 0;
    const bool drops = first && op_.keep && !shape_.diagonal;
    if (!start && !drops) return;
    for_positions([&](std::int64_t p, const RecurrenceSequence &s) {
      T *slope = work_.slope_state + std::size_t(p) * row_;
      T *to = start ? static_cast<T *>(op_.grad_state) + in_batch(s, p) : slope;
      const Dropout<T> drop = drops ? dropout(s, part_.step) : Dropout<T>();
      for_columns<T>(row_, [&]<class V>(int j) {
        put(to + j, V(get<V>(slope + j) * drop.template factor<V>(element(s, p) + j)));
      });
    });
  }

  void diagonal_gates() const {
    const int m = shape_.maps;
    multiply_gates();
    for_positions([&](std::int64_t p, const RecurrenceSequence &) {
      memory_.saturation[group_.sequence[p]] += double(saturation(here_.gates + std::size_t(p) * 2 * m, 2 * m));
      for_columns<T>(m, [&]<class V>(int j) {
        const V s = get<V>(bordered(here_.state, p) + j), a = get<V>(here_.gates + std::size_t(p) * 2 * m + j);
        put(bordered(work_.passed, p) + j, V(hard_.value(a) * s));
      });
    });
  }

  // Calls body<V>(map, offset) for all maps; what they take lies `offset` from them.
  template <class Body> void for_thirds(Body &&body) const {
    const int third = shape_.maps / 3;
    for (int k = 0; k < 3; ++k) {
      const std::ptrdiff_t offset = k == 0 ? -shape_.maps : k == 1 ? shape_.maps : 0;
      for_columns<T>(third, [&]<class V>(int j) { body.template operator()<V>(k * third + j, offset); });
    }
  }

  void diagonal_candidate() const {
    const int m = shape_.maps;
    multiply_candidate();
    for_positions([&](std::int64_t p, const RecurrenceSequence &q) {
      const T *state = bordered(here_.state, p), *update = here_.gates + std::size_t(p) * 2 * m + m,
              *candidate = here_.candidate + std::size_t(p) * m;
      memory_.saturation[group_.sequence[p]] += double(saturation(candidate, m));
      T *to = new_state(q, p);
      const Dropout<T> drop = dropout(q, part_.step);
      for_thirds([&]<class V>(int j, std::ptrdiff_t offset) {
        const V g = hard_.value(get<V>(update + j)), s = get<V>(state + j + offset),
                c = clip(get<V>(candidate + j), T(-1), T(1)) * drop.template factor<V>(element(q, p) + j);
        put(to + j, rounding_.value(V(g * (s - c) + c)));
      });
    });
  }

  void diagonal_new_state() const {
    const int m = shape_.maps;
    for_positions([&](std::int64_t p, const RecurrenceSequence &q) {
      const T *from = new_slope(q, p), *state = bordered(here_.state, p), *gates = here_.gates + std::size_t(p) * 2 * m,
              *candidate = here_.candidate + std::size_t(p) * m;
      T *passed = bordered(work_.passed, p), *slope_candidate = bordered(work_.slope_candidate, p),
        *slope_update = bordered(work_.slope_gates, p, 2) + m, *old = bordered(work_.old_state, p);
      const Dropout<T> drop = dropout(q, part_.step);
      const T over = T(op_.grad_saturation[q.number]);
      for_thirds([&]<class V>(int j, std::ptrdiff_t offset) {
        const V g = get<V>(from + j), b = get<V>(gates + m + j), d = get<V>(candidate + j), u = hard_.value(b),
                factor = drop.template factor<V>(element(q, p) + j), c = clip(d, T(-1), T(1)) * factor;
        put(passed + j, V(hard_.value(get<V>(gates + j)) * get<V>(state + j)));
        put(slope_candidate + j,
            V(g * (T(1) - u) * factor * inside(d, T(-1), T(1)) + saturation_slope(d, over)));
        put(slope_update + j, V(g * (get<V>(state + j + offset) - c) * hard_.slope(b) + saturation_slope(b, over)));
        put(old + j, V(g * u));
      });
    });
  }

  void diagonal_candidate_back() const {
    const int m = shape_.maps;
    candidate_back();
    for_positions([&](std::int64_t p, const RecurrenceSequence &q) {
      const T over = T(op_.grad_saturation[q.number]);
      for_thirds([&]<class V>(int j, std::ptrdiff_t offset) {
        const V g = get<V>(work_.slope_passed + std::size_t(p) * m + j), s = get<V>(bordered(here_.state, p) + j),
                a = get<V>(here_.gates + std::size_t(p) * 2 * m + j);
        put(bordered(work_.slope_gates, p, 2) + j, V(g * s * hard_.slope(a) + saturation_slope(a, over)));
        put(work_.slope_state + std::size_t(p) * m + j,
            V(get<V>(bordered(work_.old_state, p) + j - offset) + g * hard_.value(a)));
      });
    });
  }

  const RecurrenceOperands &op_;
  const RecurrenceShape &shape_;
  const RecurrenceGroup &group_;
  const RecurrencePart &part_;
  const RecurrenceMemory &memory_;
  const RecurrenceWorkspace<T> work_;
  const RecurrenceLayout<T> layout_;
  const Gate<T> gate_;
  const Rounding<T> rounding_;
  const HardGate<T> hard_{};
  const int row_;
  const bool last_;
  PackedLayer<T> weights_{}, gradients_{};
  Slab here_{};
};

}  // namespace torchalu::TORCHALU_ISA
