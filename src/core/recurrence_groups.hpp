// The order of the work on a batch: groups of sequences, and the phases of a group.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "recurrence.hpp"

namespace torchalu {

// None of these depends on the number of threads, so that no result does.
inline constexpr std::int64_t kGroupCells = 128;  // enough for whole tiles, few enough for the cache
inline constexpr int kParts = 32;                 // of a batch or, of long sequences, of the positions
inline constexpr std::int64_t kLong = 256;        // positions

inline std::int64_t aligned(std::int64_t count) { return (count + 15) / 16 * 16; }

// Sequences of a batch in groups, those that take no step left out.
class RecurrenceGroups {
 public:
  explicit RecurrenceGroups(const RecurrenceOperands &op) {
    const RecurrenceShape &s = op.shape;
    std::vector<std::int64_t> order;
    std::int64_t cells = 0;
    for (std::int64_t b = 0; b < op.batch; ++b)
      if (op.steps[b] > 0 && op.lengths[b] > 0) order.push_back(b), cells += op.lengths[b] * s.width;
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return op.steps[a] != op.steps[b] ? op.steps[a] > op.steps[b] : op.lengths[a] > op.lengths[b];
    });
    const std::int64_t enough = std::clamp<std::int64_t>(cells / kParts, 1, kGroupCells);
    members_.resize(order.size());  // one a sequence at most, so that no address changes
    for (std::int64_t b : order) {
      if (groups_.empty() || groups_.back().positions * s.width >= enough) {
        groups_.emplace_back();
        groups_.back().border = std::max(s.kernel_length / 2, s.diagonal ? 1 : 0);
      }
      add(op, b);
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) complete(s, groups_[g], members_[g]);
  }

  const std::vector<RecurrenceGroup> &all() const { return groups_; }
  std::int64_t kept() const { return kept_; }
  bool long_sequences() const {
    return groups_.size() < kParts / 2 &&
           std::any_of(groups_.begin(), groups_.end(), [](const auto &group) { return group.positions >= kLong; });
  }

 private:
  struct Members {
    std::vector<RecurrenceSequence> sequences;
    std::vector<std::int32_t> row, sequence;
    std::vector<RecurrenceStep> steps;
  };

  void add(const RecurrenceOperands &op, std::int64_t b) {
    RecurrenceGroup &group = groups_.back();
    Members &members = members_[groups_.size() - 1];
    const auto number = std::int32_t(members.sequences.size());
    members.sequences.push_back({b, op.lengths[b], op.steps[b], group.positions});
    for (std::int64_t p = 0; p < op.lengths[b]; ++p) {
      members.row.push_back(std::int32_t(group.positions + (number + 1) * group.border));
      members.sequence.push_back(number);
      ++group.positions;
    }
  }
  void complete(const RecurrenceShape &s, RecurrenceGroup &group, Members &members) {
    const std::int64_t row = std::int64_t(s.width) * s.maps;
    auto active = std::int64_t(members.sequences.size());
    for (std::int64_t t = 0; t < members.sequences.front().steps; ++t) {
      while (members.sequences[active - 1].steps <= t) --active;
      const RecurrenceSequence &last = members.sequences[active - 1];
      const std::int64_t positions = last.position + last.length, rows = positions + (active + 1) * group.border;
      const std::int64_t gates = aligned(rows * row), candidate = gates + aligned(positions * row * 2),
                         stride = candidate + aligned(positions * row);
      members.steps.push_back({positions, kept_, stride, gates, candidate});
      kept_ += stride * s.layers;
    }
    group.sequences = members.sequences.data();
    group.sequence_count = std::int64_t(members.sequences.size());
    group.row = members.row.data(), group.sequence = members.sequence.data();
    group.steps = members.steps.data(), group.step_count = std::int64_t(members.steps.size());
    group.rows = group.positions + (group.sequence_count + 1) * group.border;
  }

  std::vector<RecurrenceGroup> groups_;
  std::vector<Members> members_;
  std::int64_t kept_ = 0;
};

// The phases of a group, in order.
class RecurrencePhases {
 public:
  RecurrencePhases(const RecurrenceOperands &op, const RecurrenceGroup &group)
      : group_(group), layers_(op.shape.layers), backward_(op.grad_state) {}

  std::int64_t count() const { return group_.step_count * layers_ * (backward_ ? 3 : 2) + !backward_; }
  RecurrencePart operator[](std::int64_t k) const {  // all of it
    RecurrencePart part{};
    if (backward_) {
      part.phase = Phase(int(Phase::kNewState) + int(k % 3));
      part.layer = layers_ - 1 - int(k / 3 % layers_);
      part.step = group_.step_count - 1 - k / 3 / layers_;
    } else if (k > 0) {
      part.phase = (k - 1) % 2 ? Phase::kCandidate : Phase::kGates;
      part.layer = int((k - 1) / 2 % layers_);
      part.step = (k - 1) / 2 / layers_;
    }
    part.end = group_.steps[part.step].positions;
    return part;
  }

 private:
  const RecurrenceGroup &group_;
  const int layers_;
  const bool backward_;
};

}  // namespace torchalu
