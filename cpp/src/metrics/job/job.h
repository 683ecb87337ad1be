// A job's ranks and how they get on, as its agents tell each other and people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::metrics {

struct Rank {
  int rank = -1;  // -1: none yet, as a spare, or one that is about to join
  std::string host;
  std::int64_t pid = 0;
  std::optional<std::int64_t> step;     // completed
  std::optional<std::int64_t> epoch;    // over the data, from 1
  std::optional<std::int64_t> samples;  // trained by this process
  std::optional<double> loss;
  std::optional<double> wait_seconds;  // for other ranks
  std::optional<std::int64_t> calls, failed_calls;  // of it to other processes, that have ended
  std::optional<std::int64_t> sent_bytes, received_bytes;
  std::optional<double> call_seconds;  // of calls that succeeded, in all
  std::optional<double> steps_per_second, samples_per_second, wait_share;  // of late
  std::optional<std::int64_t> resident_bytes;
  std::optional<double> age;  // seconds since its last report
  bool operator==(const Rank&) const = default;
};

struct Job {
  std::string run;      // its name
  std::string program;  // what it runs
  std::string host;     // of this launcher
  std::int64_t pid = 0;
  double seconds = 0;  // since it was started
  int world_size = 0;
  std::int64_t membership_epoch = 0;  // 0: it has none
  std::int64_t restarts = 0;
  bool is_whole = true;  // false: the ranks of one node alone, for another agent keeps the account of all
  std::vector<Rank> ranks;
};

// By rank; those that have none come last.
void sort_ranks(std::vector<Rank>& ranks);
// Likewise, of a job with so many. After a change of its set some nodes have yet to say that they know: who has a
// number that is none any more, or that another one has, has none.
void settle_ranks(std::vector<Rank>& ranks, int world_size);

// The sum over ranks, where one has it.
std::optional<double> samples_per_second(const Job& job);
// The largest, the mean over ranks.
std::optional<std::int64_t> step_of(const Job& job);
std::optional<std::int64_t> epoch_of(const Job& job);
std::optional<double> steps_per_second(const Job& job);
std::optional<double> loss_of(const Job& job);

// JSON. What is not known is left out; numbers that are not finite are texts, "nan", "inf" and "-inf".
std::string encode_ranks(const std::vector<Rank>& ranks);
std::string encode_job(const Job& job);  // with its ranks
// Of what another process sent. Throw Error(kDataLoss). More ranks than `most` are one.
std::vector<Rank> decode_ranks(std::string_view json, std::size_t most);
Job decode_job(std::string_view json, std::size_t most_ranks);

}  // namespace tandem::metrics
