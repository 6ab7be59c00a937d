// Functions of groups of logits, as plain data that every instruction set reads alike, and the
// threads over them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torchalu {

// The first ones are piecewise linear: of their input, a slope for each operand is all that the
// gradient needs.
enum class Logic : int {
  kAndAIL, kOrAIL, kXnorAIL, kMaxOut, kMinOut,
  kLogitAnd, kLogitOr, kLogitXnor, kSignedGeomean
};

enum class Number : int { kFloat, kDouble, kBFloat16 };

// A function and what its output goes through: (y - mean) * scale.
struct LogicMember {
  Logic function;
  double mean, scale;
};

// Input (rows, groups, k, inner), a function over k. Every member takes all positions
// (group, inner) of a row and writes (rows, members, groups, inner); or, in a partition, member t
// takes the t-th of equal shares of them and writes (rows, groups, inner).
//
// A slope is 0 or, as a code, s m for the slope s / m: s is a sign, and m is how many operands
// share it. Slopes have the shape of the input, once for each member that takes all positions.
struct LogicOperands {
  const LogicMember *members;
  int member_count;
  bool partition;
  std::int64_t rows, groups, inner;
  int k;
  Number number;
  const void *input, *grad_output;  // the backward pass reads slopes or, without them, the input
  void *output, *grad_input;
  std::int8_t *slopes;
};

// Positions divided among the threads.
void logic_forward(LogicOperands operands, int threads);
void logic_backward(LogicOperands operands, int threads);

}  // namespace torchalu
