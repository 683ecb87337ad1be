#include "pipeline/schedule.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/invalid.h"

namespace tandem {

using Kind = PipelineAction::Kind;

std::string describe(const PipelineAction& action) {
  return std::string(action.kind == Kind::kForward ? "forward" : "backward") + " of micro-batch " +
         std::to_string(action.micro_batch) + " on stage " + std::to_string(action.stage);
}

std::optional<PipelineAction> source_of(const PipelineAction& action, int stages) {
  PipelineAction other = action;
  other.stage += action.kind == Kind::kForward ? -1 : 1;
  if (other.stage < 0 || other.stage >= stages) return std::nullopt;
  return other;
}

std::optional<PipelineAction> target_of(const PipelineAction& action, int stages) {
  PipelineAction other = action;
  other.stage += action.kind == Kind::kForward ? 1 : -1;
  if (other.stage < 0 || other.stage >= stages) return std::nullopt;
  return other;
}

namespace {

constexpr std::int64_t kMostForwards = std::int64_t{1} << 24;  // each message has a tag of its own

void check_numbers(int ranks, int micro_batches, int stages_per_rank) {
  constexpr int kMost = 1 << 14;
  const auto check = [](int number, const char* what) {
    if (number >= 1 && number <= kMost) return;
    invalid(std::string("a pipeline schedule with ") + std::to_string(number) + " " + what + "; give 1 to " +
            std::to_string(kMost));
  };
  check(ranks, "ranks");
  check(micro_batches, "micro-batches");
  check(stages_per_rank, "stages a rank");
  if (std::int64_t{ranks} * stages_per_rank > kMost) {
    invalid("a pipeline schedule has at most " + std::to_string(kMost) + " stages, this one " +
            std::to_string(std::int64_t{ranks} * stages_per_rank));
  }
}

void check_forwards(int stages, int micro_batches) {
  if (std::int64_t{stages} * micro_batches <= kMostForwards) return;
  invalid(std::to_string(stages) + " stages with " + std::to_string(micro_batches) +
          " micro-batches are too many for a pipeline schedule; their product is at most " + std::to_string(kMostForwards));
}

PipelineSchedule empty_schedule(std::string name, int ranks, int micro_batches, int stages_per_rank) {
  check_numbers(ranks, micro_batches, stages_per_rank);
  check_forwards(ranks * stages_per_rank, micro_batches);
  PipelineSchedule schedule;
  schedule.name = std::move(name);
  schedule.micro_batches = micro_batches;
  schedule.actions.resize(ranks);
  for (int stage = 0; stage < ranks * stages_per_rank; ++stage) schedule.rank_of_stage.push_back(stage % ranks);
  return schedule;
}

// Forwards and backwards of one rank in the order in which it makes them: `ahead` forwards, then one backward after each
// further forward, then the backwards that are left.
std::vector<PipelineAction> alternate(const std::vector<PipelineAction>& forwards,
                                      const std::vector<PipelineAction>& backwards, std::size_t ahead) {
  ahead = std::min(ahead, forwards.size());
  std::vector<PipelineAction> actions(forwards.begin(), forwards.begin() + static_cast<std::ptrdiff_t>(ahead));
  std::size_t done = 0;
  for (std::size_t next = ahead; next < forwards.size(); ++next) {
    actions.push_back(forwards[next]);
    actions.push_back(backwards[done++]);
  }
  actions.insert(actions.end(), backwards.begin() + static_cast<std::ptrdiff_t>(done), backwards.end());
  return actions;
}

// Begin and end of a number of rounds over `micro_batches`, each of at least `ranks` of them where there are as many:
// with fewer, the first stage of a round would wait for the last.
std::vector<std::pair<int, int>> rounds_of(int micro_batches, int ranks) {
  const int count = std::max(1, micro_batches / ranks);
  std::vector<std::pair<int, int>> rounds;
  for (int i = 0, begin = 0; i < count; ++i) {
    const int size = micro_batches / count + (i < micro_batches % count ? 1 : 0);
    rounds.emplace_back(begin, begin + size);
    begin += size;
  }
  return rounds;
}

// Each action's time on its rank, in an order in which all that it waits for comes before. Tells `visit` (rank, action,
// begin, end); gives, of each rank, how many of its actions could not be reached.
template <typename Cost, typename Visit>
std::vector<std::size_t> simulate(const PipelineSchedule& schedule, const Cost& cost, const Visit& visit) {
  const int stages = schedule.stages(), micro_batches = schedule.micro_batches;
  const auto place = [&](const PipelineAction& action) {
    return (static_cast<std::size_t>(action.kind == Kind::kBackward) * stages + action.stage) * micro_batches +
           action.micro_batch;
  };
  std::vector<double> ended(static_cast<std::size_t>(2) * stages * micro_batches, -1);
  std::vector<double> clock(schedule.actions.size(), 0);
  std::vector<std::size_t> next(schedule.actions.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t rank = 0; rank < schedule.actions.size(); ++rank) {
      while (next[rank] < schedule.actions[rank].size()) {
        const PipelineAction& action = schedule.actions[rank][next[rank]];
        double begin = clock[rank];
        if (const auto source = source_of(action, stages)) {
          if (ended[place(*source)] < 0) break;
          begin = std::max(begin, ended[place(*source)]);
        }
        clock[rank] = ended[place(action)] = begin + cost(action);
        visit(rank, action, begin, clock[rank]);
        ++next[rank];
        moved = true;
      }
    }
  }
  for (std::size_t rank = 0; rank < next.size(); ++rank) next[rank] = schedule.actions[rank].size() - next[rank];
  return next;
}

std::vector<std::size_t> unreachable(const PipelineSchedule& schedule) {
  return simulate(schedule, [](const PipelineAction&) { return 1.0; }, [](auto&&...) {});
}

}  // namespace

PipelineSchedule gpipe_schedule(int ranks, int micro_batches, int stages_per_rank) {
  PipelineSchedule schedule = empty_schedule("gpipe", ranks, micro_batches, stages_per_rank);
  for (int rank = 0; rank < ranks; ++rank) {
    auto& actions = schedule.actions[rank];
    for (int chunk = 0; chunk < stages_per_rank; ++chunk) {
      for (int i = 0; i < micro_batches; ++i) actions.push_back({Kind::kForward, chunk * ranks + rank, i});
    }
    for (int chunk = stages_per_rank; chunk-- > 0;) {
      for (int i = 0; i < micro_batches; ++i) actions.push_back({Kind::kBackward, chunk * ranks + rank, i});
    }
  }
  return schedule;
}

PipelineSchedule one_forward_one_backward_schedule(int ranks, int micro_batches) {
  PipelineSchedule schedule = interleaved_schedule(ranks, micro_batches, 1);
  schedule.name = "1f1b";
  return schedule;
}

PipelineSchedule interleaved_schedule(int ranks, int micro_batches, int stages_per_rank) {
  PipelineSchedule schedule = empty_schedule("interleaved1f1b", ranks, micro_batches, stages_per_rank);
  const auto rounds = rounds_of(micro_batches, ranks);
  const int round = rounds.front().second;
  std::vector<std::vector<PipelineAction>> forwards(ranks), backwards(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    for (const auto& [begin, end] : rounds) {
      for (int chunk = 0; chunk < stages_per_rank; ++chunk) {
        for (int i = begin; i < end; ++i) {
          forwards[rank].push_back({Kind::kForward, chunk * ranks + rank, i});
        }
      }
      for (int chunk = stages_per_rank; chunk-- > 0;) {
        for (int i = begin; i < end; ++i) {
          backwards[rank].push_back({Kind::kBackward, chunk * ranks + rank, i});
        }
      }
    }
  }
  // Rounds of different sizes may need some more forwards ahead; with all of them ahead nothing waits in a circle.
  for (int more = 0;; ++more) {
    for (int rank = 0; rank < ranks; ++rank) {
      const int to_last = ranks - 1 - rank;
      const int ahead = stages_per_rank == 1 ? to_last : (stages_per_rank - 1) * round + 2 * to_last;
      schedule.actions[rank] = alternate(forwards[rank], backwards[rank], static_cast<std::size_t>(ahead) + more);
    }
    const auto left = unreachable(schedule);
    if (std::ranges::all_of(left, [](std::size_t count) { return count == 0; })) return schedule;
  }
}

PipelineSchedule make_pipeline_schedule(const std::string& name, int ranks, int micro_batches, int stages_per_rank) {
  if (name == "gpipe") return gpipe_schedule(ranks, micro_batches, stages_per_rank);
  if (name == "interleaved1f1b") return interleaved_schedule(ranks, micro_batches, stages_per_rank);
  if (name != "1f1b") {
    throw Error(ErrorCode::kNotFound,
                "there is no pipeline schedule '" + name + "'; there are gpipe, 1f1b and interleaved1f1b");
  }
  if (stages_per_rank == 1) return one_forward_one_backward_schedule(ranks, micro_batches);
  invalid("the schedule 1f1b has one stage a rank, not " + std::to_string(stages_per_rank) +
          "; take interleaved1f1b for several");
}

void verify(const PipelineSchedule& schedule) {
  const std::string what = "pipeline schedule '" + schedule.name + "': ";
  const int stages = schedule.stages();
  check_numbers(schedule.ranks(), schedule.micro_batches, 1);
  if (stages < 1) invalid(what + "it has no stages");
  check_forwards(stages, schedule.micro_batches);
  for (int stage = 0; stage < stages; ++stage) {
    const int rank = schedule.rank_of_stage[stage];
    if (rank < 0 || rank >= schedule.ranks()) {
      invalid(what + "stage " + std::to_string(stage) + " is on rank " + std::to_string(rank) + "; there are " +
              std::to_string(schedule.ranks()) + " ranks");
    }
  }
  std::vector<int> forwards(static_cast<std::size_t>(stages) * schedule.micro_batches, 0), backwards = forwards;
  for (int rank = 0; rank < schedule.ranks(); ++rank) {
    for (const PipelineAction& action : schedule.actions[rank]) {
      const std::string where = what + "rank " + std::to_string(rank) + " makes the " + describe(action);
      if (action.stage < 0 || action.stage >= stages || action.micro_batch < 0 ||
          action.micro_batch >= schedule.micro_batches) {
        invalid(where + "; there are " + std::to_string(stages) + " stages and " +
                std::to_string(schedule.micro_batches) + " micro-batches");
      }
      const int owner = schedule.rank_of_stage[action.stage];
      if (owner != rank) invalid(where + ", which is rank " + std::to_string(owner) + "'s");
      const std::size_t place = static_cast<std::size_t>(action.stage) * schedule.micro_batches + action.micro_batch;
      if (action.kind == Kind::kBackward && forwards[place] == 0) invalid(where + " before its forward");
      if ((action.kind == Kind::kForward ? forwards : backwards)[place]++ > 0) invalid(where + " twice");
    }
  }
  for (int stage = 0; stage < stages; ++stage) {
    for (int i = 0; i < schedule.micro_batches; ++i) {
      const std::size_t place = static_cast<std::size_t>(stage) * schedule.micro_batches + i;
      for (const Kind kind : {Kind::kForward, Kind::kBackward}) {
        if ((kind == Kind::kForward ? forwards : backwards)[place] > 0) continue;
        invalid(what + "rank " + std::to_string(schedule.rank_of_stage[stage]) + " lacks the " +
                describe({kind, stage, i}));
      }
    }
  }
  const auto left = unreachable(schedule);
  std::string waits;
  for (int rank = 0; rank < schedule.ranks(); ++rank) {
    if (left[rank] == 0) continue;
    const PipelineAction& action = schedule.actions[rank][schedule.actions[rank].size() - left[rank]];
    waits += (waits.empty() ? "" : ", ") + ("rank " + std::to_string(rank)) + " would wait in the " + describe(action) +
             " for the " + describe(*source_of(action, stages));
  }
  if (!waits.empty()) invalid(what + "ranks would wait for each other for ever: " + waits);
}

double bubble_share(const PipelineSchedule& schedule, double backward) {
  double busy = 0, end = 0;
  simulate(
      schedule, [backward](const PipelineAction& action) { return action.kind == Kind::kForward ? 1.0 : backward; },
      [&](std::size_t, const PipelineAction&, double begun, double ended) {
        busy += ended - begun;
        end = std::max(end, ended);
      });
  return end > 0 ? 1 - busy / (end * schedule.ranks()) : 0;
}

}  // namespace tandem
