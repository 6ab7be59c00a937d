// The forms of first layers that the warp's loop is built for.
#pragma once

#include "../plan.hpp"

// X(forms of the inputs, forms of their log magnitudes); with none of either the rows are stored.
#define TORCHALU_SHAPES(X) X(0, 0) X(2, 0) X(4, 0) X(10, 0) X(0, 2) X(0, 10) X(4, 2) X(20, 10)

namespace torchalu {

struct Shape {
  int forms, log_forms;
  bool stores_rows() const { return forms + log_forms == 0; }
};

// The smallest that holds the forms of a layer.
inline Shape shape_of(const Layer &first) {
  Shape needed{0, 0}, best{0, 0};
  if (first.kind == Kind::kLinear || first.kind == Kind::kNAC) needed.forms = first.out;
  if (first.kind == Kind::kNALU) needed = {2 * first.out, first.out};
  if (first.kind == Kind::kNACMul) needed.log_forms = first.out;
  if (needed.stores_rows()) return best;
  const auto consider = [&](int forms, int log_forms) {
    const bool fits = forms >= needed.forms && log_forms >= needed.log_forms;
    if (fits && (best.stores_rows() || forms + log_forms < best.forms + best.log_forms)) best = {forms, log_forms};
  };
#define TORCHALU_CONSIDER(FX, FL) consider(FX, FL);
  TORCHALU_SHAPES(TORCHALU_CONSIDER)
#undef TORCHALU_CONSIDER
  return best;
}

}  // namespace torchalu
