// Passes over groups, forward and backward.
#pragma once

#include "arena.hpp"
#include "logic_forms.hpp"
#include "logic_memory.hpp"

namespace torchalu::TORCHALU_ISA {

constexpr bool piecewise_linear(Logic function) { return function <= Logic::kMinOut; }

// With two operands a slope is 0, 1/2 or 1 of a sign.
template <class T, int K> inline vec<T> slope_of(bits<T> code) {
  const vec<T> c = to_float<T>(code);
  if constexpr (K == 2) return c * (T(1.25) - T(0.25) * (c * c));
  else return select<T>(code == 0, zero<T>(), vec<T>(T(1) / c));
}

// Value of a piecewise linear function, and a call code(j, code of the slope by operand j).
template <Logic F, class T, int K, class Code> inline vec<T> value_and_codes(const Operands<T, K> &z, Code &&code) {
  if constexpr (F == Logic::kXnorAIL) return xnor_ail<T, K>(z, code);
  else if constexpr (F == Logic::kAndAIL || F == Logic::kOrAIL) return and_ail<T, K, F == Logic::kOrAIL>(z, code);
  else return min_out<T, K, F == Logic::kMaxOut>(z, code);
}
// Value of any function, and a call gradient(j, derivative by operand j).
template <Logic F, class T, int K, class Gradient>
inline vec<T> value_and_gradient(const Operands<T, K> &z, vec<T> *scratch, Gradient &&gradient) {
  if constexpr (piecewise_linear(F))
    return value_and_codes<F, T, K>(z, [&](int j, bits<T> code) { gradient(j, slope_of<T, K>(code)); });
  else if constexpr (F == Logic::kLogitXnor) return logit_xnor<T, K>(z, scratch, gradient);
  else if constexpr (F == Logic::kSignedGeomean) return signed_geomean<T, K>(z, gradient);
  else return logit_and<T, K, F == Logic::kLogitOr>(z, gradient);
}

template <class Body> inline void with_function(Logic function, Body &&body) {
  switch (function) {
    case Logic::kAndAIL: return body.template operator()<Logic::kAndAIL>();
    case Logic::kOrAIL: return body.template operator()<Logic::kOrAIL>();
    case Logic::kXnorAIL: return body.template operator()<Logic::kXnorAIL>();
    case Logic::kMaxOut: return body.template operator()<Logic::kMaxOut>();
    case Logic::kMinOut: return body.template operator()<Logic::kMinOut>();
    case Logic::kLogitAnd: return body.template operator()<Logic::kLogitAnd>();
    case Logic::kLogitOr: return body.template operator()<Logic::kLogitOr>();
    case Logic::kLogitXnor: return body.template operator()<Logic::kLogitXnor>();
    case Logic::kSignedGeomean: return body.template operator()<Logic::kSignedGeomean>();
  }
}

// A vector for each of k operands: on the stack where k is known, else in the workspace.
template <class V, int K> class PerOperand {
 public:
  explicit PerOperand(void *) {}
  operator V *() { return vectors_; }

 private:
  V vectors_[K];
};
template <class V> class PerOperand<V, 0> {
 public:
  explicit PerOperand(void *room) : vectors_(static_cast<V *>(room)) {}
  operator V *() { return vectors_; }

 private:
  V *vectors_;
};

inline constexpr int kPerOperand = 3;  // of them: operands, scratch, and codes or gradients

template <class S, class T, int K> class LogicPass {
 public:
  LogicPass(const LogicOperands &op, void *workspace) : op_(op), groups_(op.inner, op.k) {
    Arena arena(workspace);
    for (void *&room : rooms_) room = arena.take<vec<T>>(op.k);
  }

  void forward(std::int64_t begin, std::int64_t end) const {
    for_each_tile(begin, end, [&](const Tile &tile) {
      for_each_member(tile, [&](const LogicMember &member, std::int64_t plane) {
        with_function(member.function, [&]<Logic F>() { evaluate<F>(tile, member, plane); });
      });
    });
  }

  void backward(std::int64_t begin, std::int64_t end) const {
    for_each_tile(begin, end, [&](const Tile &tile) {
      if (op_.slopes) add_slopes(tile);
      else add_gradients(tile);
    });
  }

 private:
  struct Tile {
    std::int64_t row, begin, end;
    int share;
  };

  std::int64_t row_length() const { return op_.groups * op_.inner; }
  std::int64_t row_operands() const { return row_length() * op_.k; }

  // Parts of one row, and of one share of it, that the first cache holds with all they need.
  template <class Body> void for_each_tile(std::int64_t begin, std::int64_t end, Body &&body) const {
    const std::int64_t length = row_length(), share = length / (op_.partition ? op_.member_count : 1);
    const std::int64_t most = 2048 / op_.k < kLanes<T> ? kLanes<T> : 2048 / op_.k / kLanes<T> * kLanes<T>;
    for (std::int64_t at = begin; at < end;) {
      const std::int64_t row = at / length, position = at % length, left = share - position % share;
      std::int64_t count = end - at < most ? end - at : most;
      if (left < count) count = left;
      body(Tile{row, position, position + count, int(position / share)});
      at += count;
    }
  }
  // The members that take a tile, and the row of the output that each writes.
  template <class Body> void for_each_member(const Tile &tile, Body &&body) const {
    if (op_.partition) return body(op_.members[tile.share], tile.row);
    for (int t = 0; t < op_.member_count; ++t) body(op_.members[t], tile.row * op_.member_count + t);
  }
  template <Logic F> void evaluate(const Tile &tile, const LogicMember &member, std::int64_t plane) const {
    const S *input = static_cast<const S *>(op_.input) + tile.row * row_operands();
    std::int8_t *slopes = op_.slopes ? op_.slopes + plane * row_operands() : nullptr;
    S *output = static_cast<S *>(op_.output) + plane * row_length();
    const T mean = T(member.mean), scale = T(member.scale);
    PerOperand<vec<T>, K> operands(rooms_[0]), scratch(rooms_[1]);
    PerOperand<bits<T>, K> codes(rooms_[2]);
    groups_.for_each_run(tile.begin, tile.end, [&](const Run &run) {
      for (int r = 0; r < run.count; r += kLanes<T>) {
        groups_.read(run, r, input, static_cast<vec<T> *>(operands));
        const Operands<T, K> z{operands, op_.k};
        vec<T> y;
        if constexpr (piecewise_linear(F)) {
          y = value_and_codes<F, T, K>(z, [&](int j, bits<T> code) { codes[j] = code; });
          if (slopes) groups_.write(run, r, slopes, static_cast<const bits<T> *>(codes));
        } else {
          y = value_and_gradient<F, T, K>(z, scratch, [](int, vec<T>) {});
        }
        write_positions<T>(output + run.begin + r, run.count - r, vec<T>((y - mean) * scale));
      }
    });
  }

  void add_slopes(const Tile &tile) const {
    PerOperand<bits<T>, K> codes(rooms_[1]);
    for_each_gradient(tile, [&](const Run &run, int r, vec<T> *grad) {
      for_each_member(tile, [&](const LogicMember &member, std::int64_t plane) {
        const vec<T> dy = grad_output(plane, run, r) * T(member.scale);
        groups_.read(run, r, op_.slopes + plane * row_operands(), static_cast<bits<T> *>(codes));
        for (int j = 0; j < groups_.size(); ++j) grad[j] += dy * slope_of<T, K>(codes[j]);
      });
    });
  }

  void add_gradients(const Tile &tile) const {
    const S *input = static_cast<const S *>(op_.input) + tile.row * row_operands();
    PerOperand<vec<T>, K> operands(rooms_[1]), scratch(rooms_[2]);
    for_each_gradient(tile, [&](const Run &run, int r, vec<T> *grad) {
      groups_.read(run, r, input, static_cast<vec<T> *>(operands));
      const Operands<T, K> z{operands, op_.k};
      for_each_member(tile, [&](const LogicMember &member, std::int64_t plane) {
        const vec<T> dy = grad_output(plane, run, r) * T(member.scale);
        with_function(member.function, [&]<Logic F>() {
          value_and_gradient<F, T, K>(z, scratch, [&](int j, vec<T> slope) { grad[j] += dy * slope; });
        });
      });
    });
  }

  // Calls body(run, r, gradients of the operands to add to), and writes these.
  template <class Body> void for_each_gradient(const Tile &tile, Body &&body) const {
    S *grad_input = static_cast<S *>(op_.grad_input) + tile.row * row_operands();
    PerOperand<vec<T>, K> grad(rooms_[0]);
    groups_.for_each_run(tile.begin, tile.end, [&](const Run &run) {
      for (int r = 0; r < run.count; r += kLanes<T>) {
        for (int j = 0; j < groups_.size(); ++j) grad[j] = zero<T>();
        body(run, r, static_cast<vec<T> *>(grad));
        groups_.write(run, r, grad_input, static_cast<const vec<T> *>(grad));
      }
    });
  }
  vec<T> grad_output(std::int64_t plane, const Run &run, int r) const {
    const S *from = static_cast<const S *>(op_.grad_output) + plane * row_length();
    return read_positions<T>(from + run.begin + r, run.count - r);
  }

  const LogicOperands &op_;
  Groups<T, K> groups_;
  void *rooms_[kPerOperand];
};

inline std::size_t logic_workspace_any(const LogicOperands &op) {
  Arena arena(nullptr);
  for (int room = 0; room < kPerOperand; ++room) arena.take<vec<float>>(op.k);
  return arena.used();
}

template <class S, class T, class Body> inline void with_count(const LogicOperands &op, void *workspace, Body &&body) {
  if (op.k == 2) body(LogicPass<S, T, 2>(op, workspace));
  else body(LogicPass<S, T, 0>(op, workspace));
}
template <class Body> inline void with_pass(const LogicOperands &op, void *workspace, Body &&body) {
  if (op.number == Number::kDouble) with_count<double, double>(op, workspace, body);
  else if (op.number == Number::kFloat) with_count<float, float>(op, workspace, body);
  else with_count<bfloat16, float>(op, workspace, body);
}
inline void logic_forward_any(const LogicOperands &op, std::int64_t begin, std::int64_t end, void *workspace) {
  with_pass(op, workspace, [&](const auto &pass) { pass.forward(begin, end); });
}
inline void logic_backward_any(const LogicOperands &op, std::int64_t begin, std::int64_t end, void *workspace) {
  with_pass(op, workspace, [&](const auto &pass) { pass.backward(begin, end); });
}

}  // namespace torchalu::TORCHALU_ISA
