// The training of one replica of every setting of a team: every step, from the batch to the
// constraint, in one loop. The inputs are drawn once for all settings, and read by the first layers
// of all of them together.
#pragma once

#include "replica.hpp"
#include "shared_forms.hpp"

namespace torchalu::TORCHALU_ISA {

template <class T> class TeamLoop {
 public:
  TeamLoop(const Team &team, void *workspace)
      : team_(team), plan_(team.plans[0]), arena_(workspace), rows_(padded_rows(plan_.batch_size)),
        source_(team, arena_, rows_), forms_(team, arena_), members_(arena_.take<Member>(team.size)) {
    for (int k = 0; k < team.size; ++k) {
      const Member member{Replica<T>(team.plans[k], arena_, rows_), false, 0, 0};
      if (members_) members_[k] = member;
    }
  }
  std::size_t bytes() const { return arena_.used(); }

  void run(int replica, Control &control) {
    std::int64_t step = enter(replica);
    std::int64_t reported = step;
    while (running_ > 0 && !__atomic_load_n(&control.stop, __ATOMIC_RELAXED)) {
      train_step(replica, step, [&] { report(control, plan_.steps - reported); });
      ++step;
      if (step % plan_.evaluate_every != 0 && step != plan_.steps) continue;
      evaluate(replica, step);
      for_each([&](Member &m) {
        const bool goes_on = m.replica.running(replica);
        report(control, (goes_on ? step : plan_.steps) - reported);
        if (!goes_on) leave(m, replica, step);
      });
      reported = step;
    }
    for_each([&](Member &m) { leave(m, replica, step); });
  }

 private:
  struct Member {
    Replica<T> replica;
    bool inside;
    double validation, extrapolation;
  };

  template <class F> void for_each(F &&f) {
    for (int k = 0; k < team_.size; ++k)
      if (members_[k].inside) f(members_[k]);
  }

  // The step at which those that are still running stand.
  std::int64_t enter(int replica) {
    std::int64_t step = 0;
    running_ = 0;
    for (int k = 0; k < team_.size; ++k) {
      Member &m = members_[k];
      m.inside = m.replica.running(replica) && team_.plans[k].state.step[replica] < plan_.steps;
      if (!m.inside) continue;
      m.replica.begin(replica);
      step = team_.plans[k].state.step[replica];
      ++running_;
    }
    gather_forms();
    return step;
  }
  void leave(Member &m, int replica, std::int64_t step) {
    m.replica.end(replica, step);
    m.inside = false;
    --running_;
    gather_forms();
  }
  void gather_forms() {
    forms_.clear();
    for_each([&](Member &m) {
      const Layer &first = m.replica.plan().layers[0];
      if (shares_forms(first)) forms_.add(first, m.replica.layers()[0]);
    });
  }
  static void report(Control &control, std::int64_t steps) {
    __atomic_fetch_add(&control.steps_done, steps, __ATOMIC_RELAXED);
  }

  // `lost` is called for each setting whose loss is not finite: it ends.
  template <class F> void train_step(int replica, std::int64_t step, F &&lost) {
    source_.training(replica, step);
    for_each([&](Member &m) { m.replica.prepare_weights(); });
    forms_.form_values(source_, rows_);
    for_each([&](Member &m) {
      if (m.replica.backpropagate(replica, step, source_.rows_for(m.replica.plan(), replica))) return;
      leave(m, replica, step);
      lost();
    });
    forms_.form_gradients(source_, rows_);
    for_each([&](Member &m) { m.replica.update(replica, step); });
  }

  void evaluate(int replica, std::int64_t step) {
    for_each([&](Member &m) { m.replica.prepare_weights(), m.validation = m.extrapolation = 0; });
    add_losses(replica, kValidation, &Member::validation);
    if (plan_.sampled) add_losses(replica, kExtrapolation, &Member::extrapolation);
    else for_each([&](Member &m) { m.extrapolation = not_a_number(); });
    for_each([&](Member &m) { m.replica.judge(replica, step, m.validation, m.extrapolation); });
  }
  void add_losses(int replica, Stream stream, double Member::*loss) {
    const std::int64_t rows = source_.evaluation_rows();
    const int block = plan_.sampled ? plan_.batch_size : rows_;  // a slice of a table starts at a row group
    for (std::int64_t start = 0; start < rows; start += block) {
      const std::int64_t left = rows - start;
      source_.evaluation(replica, stream, start, int(left < block ? left : block));
      forms_.form_values(source_, rows_);
      for_each([&](Member &m) {
        m.*loss += m.replica.loss_on(source_.rows_for(m.replica.plan(), replica), double(rows));
      });
    }
  }

  const Team &team_;
  const Plan &plan_;
  Arena arena_;
  int rows_;
  Source<T> source_;
  SharedForms<T> forms_;
  Member *members_;
  int running_ = 0;
};

}  // namespace torchalu::TORCHALU_ISA
