#include "metrics/job/job.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

#include "base/json_document.h"
#include "base/printable.h"
#include "tandem/error.h"

namespace tandem::metrics {
namespace {

using nlohmann::ordered_json;

constexpr int kMostRank = 1 << 20;

// As it may be shown on a terminal, and stand in a label.
std::string text_of(const ordered_json& json, const char* name) { return printable(json.at(name).get<std::string>()); }

std::int64_t whole_number(const ordered_json& json, const char* name, std::int64_t least, std::int64_t most) {
  const bool is_one =
      json.is_number_integer() && (!json.is_number_unsigned() || json.get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
  const std::int64_t value = is_one ? json.get<std::int64_t>() : 0;
  if (!is_one || value < least || value > most) {
    throw std::invalid_argument(std::string(name) + " is no whole number from " + std::to_string(least) + " to " +
                                std::to_string(most));
  }
  return value;
}

void put(ordered_json& json, const char* name, const std::optional<std::int64_t>& value) {
  if (value) json[name] = *value;
}

void put(ordered_json& json, const char* name, const std::optional<double>& value) {
  if (!value) return;
  if (std::isfinite(*value)) {
    json[name] = *value;
  } else {
    json[name] = std::isnan(*value) ? "nan" : *value > 0 ? "inf" : "-inf";
  }
}

void get(const ordered_json& json, const char* name, std::optional<std::int64_t>* value) {
  const auto found = json.find(name);
  if (found == json.end()) return;
  *value = whole_number(*found, name, INT64_MIN, INT64_MAX);
}

void get(const ordered_json& json, const char* name, std::optional<double>* value) {
  const auto found = json.find(name);
  if (found == json.end()) return;
  if (found->is_number()) {
    *value = found->get<double>();
  } else {
    const auto text = found->get<std::string>();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    *value = text == "inf" ? kInfinity : text == "-inf" ? -kInfinity : std::numeric_limits<double>::quiet_NaN();
  }
}

// `visit(name, field)` for each field that may be unknown.
template <typename RankType, typename Visit>
void visit_measured(RankType& rank, const Visit& visit) {
  visit("step", rank.step);
  visit("epoch", rank.epoch);
  visit("samples", rank.samples);
  visit("loss", rank.loss);
  visit("wait_seconds", rank.wait_seconds);
  visit("calls", rank.calls);
  visit("failed_calls", rank.failed_calls);
  visit("sent_bytes", rank.sent_bytes);
  visit("received_bytes", rank.received_bytes);
  visit("call_seconds", rank.call_seconds);
  visit("steps_per_second", rank.steps_per_second);
  visit("samples_per_second", rank.samples_per_second);
  visit("wait_share", rank.wait_share);
  visit("resident_bytes", rank.resident_bytes);
  visit("age", rank.age);
}

ordered_json json_of(const std::vector<Rank>& ranks) {
  ordered_json list = ordered_json::array();
  for (const Rank& rank : ranks) {
    ordered_json one = {{"rank", rank.rank}, {"host", rank.host}, {"pid", rank.pid}};
    visit_measured(rank, [&one](const char* name, const auto& value) { put(one, name, value); });
    list.push_back(std::move(one));
  }
  return list;
}

std::vector<Rank> ranks_of(const ordered_json& list, std::size_t most) {
  if (!list.is_array() || list.size() > most)
    throw std::invalid_argument("is no list of up to " + std::to_string(most));
  std::vector<Rank> ranks;
  for (const ordered_json& one : list) {
    Rank rank;
    rank.rank = static_cast<int>(whole_number(one.at("rank"), "rank", -1, kMostRank));
    rank.host = text_of(one, "host");
    rank.pid = whole_number(one.at("pid"), "pid", 0, INT64_MAX);
    visit_measured(rank, [&one](const char* name, auto& value) { get(one, name, &value); });
    ranks.push_back(std::move(rank));
  }
  return ranks;
}

std::string text(const ordered_json& json) { return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace); }

template <typename Read>
auto decoded(std::string_view bytes, const char* what, const Read& read) {
  try {
    return read(parse_json_document(bytes));
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kDataLoss, std::string(what) + " " + error.what());
  }
}

template <typename Value>
void take_larger(std::optional<Value>& largest, const std::optional<Value>& value) {
  if (value && (!largest || *value > *largest)) largest = value;
}

}  // namespace

void sort_ranks(std::vector<Rank>& ranks) {
  std::ranges::stable_sort(ranks, {},
                           [](const Rank& one) { return std::tuple(one.rank < 0, one.rank, one.host, one.pid); });
}

void settle_ranks(std::vector<Rank>& ranks, int world_size) {
  sort_ranks(ranks);
  int last = -1;
  for (Rank& one : ranks) {
    if (one.rank < 0) break;
    const bool is_left_over = one.rank >= world_size || one.rank == last;
    last = one.rank;
    if (is_left_over) one.rank = -1;
  }
  sort_ranks(ranks);
}

std::optional<double> samples_per_second(const Job& job) {
  std::optional<double> sum;
  for (const Rank& rank : job.ranks) {
    if (rank.samples_per_second) sum = sum.value_or(0) + *rank.samples_per_second;
  }
  return sum;
}

std::optional<std::int64_t> step_of(const Job& job) {
  std::optional<std::int64_t> largest;
  for (const Rank& rank : job.ranks) take_larger(largest, rank.step);
  return largest;
}

std::optional<std::int64_t> epoch_of(const Job& job) {
  std::optional<std::int64_t> largest;
  for (const Rank& rank : job.ranks) take_larger(largest, rank.epoch);
  return largest;
}

std::optional<double> steps_per_second(const Job& job) {
  std::optional<double> largest;
  for (const Rank& rank : job.ranks) take_larger(largest, rank.steps_per_second);
  return largest;
}

std::optional<double> loss_of(const Job& job) {
  double sum = 0;
  int count = 0;
  for (const Rank& rank : job.ranks) {
    if (!rank.loss) continue;
    sum += *rank.loss;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

std::string encode_ranks(const std::vector<Rank>& ranks) { return text(json_of(ranks)); }

std::string encode_job(const Job& job) {
  ordered_json json = {{"run", job.run},
                       {"program", job.program},
                       {"host", job.host},
                       {"pid", job.pid},
                       {"seconds", job.seconds},
                       {"world_size", job.world_size},
                       {"membership_epoch", job.membership_epoch},
                       {"restarts", job.restarts},
                       {"is_whole", job.is_whole},
                       {"ranks", json_of(job.ranks)}};
  return text(json);
}

std::vector<Rank> decode_ranks(std::string_view json, std::size_t most) {
  return decoded(json, "a list of ranks", [most](const ordered_json& list) { return ranks_of(list, most); });
}

Job decode_job(std::string_view json, std::size_t most_ranks) {
  return decoded(json, "an account of a job", [most_ranks](const ordered_json& read) {
    Job job;
    job.run = text_of(read, "run");
    job.program = text_of(read, "program");
    job.host = text_of(read, "host");
    job.pid = whole_number(read.at("pid"), "pid", 0, INT64_MAX);
    job.seconds = read.at("seconds").get<double>();
    job.world_size = static_cast<int>(whole_number(read.at("world_size"), "world_size", 0, kMostRank));
    job.membership_epoch = whole_number(read.at("membership_epoch"), "membership_epoch", 0, INT64_MAX);
    job.restarts = whole_number(read.at("restarts"), "restarts", 0, INT64_MAX);
    job.is_whole = read.at("is_whole").get<bool>();
    job.ranks = ranks_of(read.at("ranks"), most_ranks);
    return job;
  });
}

}  // namespace tandem::metrics
