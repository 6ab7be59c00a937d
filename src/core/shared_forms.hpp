// The linear forms that the first layers of a team begin with: all over the same rows, and so
// formed together, which reads the rows less often.
#pragma once

#include "batches.hpp"

namespace torchalu::TORCHALU_ISA {

template <class T> class SharedForms {
 public:
  SharedForms(const Team &team, Arena &arena) : in_(team.plans[0].in_features) {
    std::size_t room = 0;
    for (int k = 0; k < team.size; ++k) room += 2 * std::size_t(team.plans[k].layers[0].out);
    of_input_.form = arena.take<Form<T>>(room);
    of_logs_.form = arena.take<Form<T>>(room);
    eps_ = arena.take<double>(room);
  }

  void clear() { of_input_.count = of_logs_.count = 0; }
  void add(const Layer &l, const LayerState<T> &s) {
    for (int k = 0; k < s.of_input.count; ++k) of_input_.form[of_input_.count++] = s.of_input.form[k];
    for (int k = 0; multiplies_logs(l) && k < s.of_logs.count; ++k) {
      eps_[of_logs_.count] = l.eps;
      of_logs_.form[of_logs_.count++] = s.of_logs.form[k];
    }
  }

  void form_values(Source<T> &source, int rows) {
    multiply<T>(of_input_.form, of_input_.count, in_, source.inputs(), rows);
    for_each_eps([&](const Form<T> *form, int count, double eps) {
      multiply<T>(form, count, in_, source.logs(eps), rows);
    });
  }
  void form_gradients(Source<T> &source, int rows) {
    add_outer<T>(of_input_.form, of_input_.count, in_, source.inputs(), rows);
    for_each_eps([&](const Form<T> *form, int count, double eps) {
      add_outer<T>(form, count, in_, source.logs(eps), rows);
    });
  }

 private:
  // Neighbors that take the logarithm of |x| + the same eps.
  template <class F> void for_each_eps(F &&f) const {
    for (int begin = 0, end = 0; begin < of_logs_.count; begin = end) {
      while (end < of_logs_.count && eps_[end] == eps_[begin]) ++end;
      f(of_logs_.form + begin, end - begin, eps_[begin]);
    }
  }

  int in_;
  Forms<T> of_input_, of_logs_;
  double *eps_;
};

}  // namespace torchalu::TORCHALU_ISA
