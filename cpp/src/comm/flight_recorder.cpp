#include "comm/flight_recorder.h"

#include <c10/core/ScalarType.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/atomic_file.h"
#include "comm/environment.h"
#include "tandem/error.h"
#include "trace/json.h"

namespace tandem {
namespace {

constexpr std::int64_t kEntries = 2000;

template <typename Time>
std::int64_t ns_of(Time time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::size_t ring_size() {
  const auto text = environment_variable("TANDEM_FLIGHT_RECORD_SIZE");
  const long size = text ? std::strtol(text->c_str(), nullptr, 10) : kEntries;
  return static_cast<std::size_t>(std::clamp(size, 0L, 1000000L));
}

}  // namespace

FlightRecorder::FlightRecorder() : ring_(ring_size()) {}

FlightRecorder& FlightRecorder::instance() {
  static auto* recorder = new FlightRecorder;
  return *recorder;
}

std::int64_t FlightRecorder::begin(const std::string& group, int rank, int size, const Collective& collective) {
  if (ring_.empty()) return -1;
  std::lock_guard<std::mutex> lock(mutex_);
  Entry& entry = ring_[next_ % ring_.size()];
  entry.record = next_++;
  entry.group = group;
  entry.rank = rank;
  entry.size = size;
  entry.name = collective.name;
  entry.sequence = collective.sequence;
  entry.point_to_point = collective.point_to_point;
  entry.peer = collective.peer;
  entry.tensor_count = collective.tensors.size();
  for (std::size_t i = 0; i < std::min(std::size(entry.shapes), collective.tensors.size()); ++i) {
    const at::Tensor& tensor = collective.tensors[i];
    entry.shapes[i].dtype = static_cast<std::int8_t>(tensor.scalar_type());
    entry.shapes[i].sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  }
  entry.begun = collective.begun;
  entry.ended = {};
  entry.failure.clear();
  // It was used so long ago that it is in no near cache; while this collective runs it comes.
  const auto* next = reinterpret_cast<const char*>(&ring_[next_ % ring_.size()]);
  for (std::size_t at = 0; at < sizeof(Entry); at += 64) __builtin_prefetch(next + at, 1);
  return entry.record;
}

void FlightRecorder::end(std::int64_t record, const std::string& failure) {
  if (record < 0) return;
  const auto time = Clock::now();
  std::lock_guard<std::mutex> lock(mutex_);
  Entry& entry = ring_[record % ring_.size()];
  if (entry.record != record || entry.has_ended()) return;
  entry.ended = time;
  entry.failure = failure;
}

std::string FlightRecorder::json_of(const Entry& entry, std::int64_t since_1970) {
  std::string shapes, dtypes;
  for (std::size_t i = 0; i < std::min(std::size(entry.shapes), entry.tensor_count); ++i) {
    std::string sizes;
    for (const std::int64_t size : entry.shapes[i].sizes) sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
    shapes += (i ? ", [" : "[") + sizes + "]";
    dtypes += (i ? ", " : "") + json_quoted(c10::toString(static_cast<c10::ScalarType>(entry.shapes[i].dtype)));
  }
  const char* state = !entry.has_ended() ? "started" : entry.failure.empty() ? "completed" : "failed";
  std::string text = "{\"record\": " + std::to_string(entry.record) + ", \"group\": " + json_quoted(entry.group) +
                     ", \"rank\": " + std::to_string(entry.rank) + ", \"size\": " + std::to_string(entry.size) +
                     ", \"sequence\": " + std::to_string(entry.sequence) +
                     ", \"point_to_point\": " + (entry.point_to_point ? "true" : "false") +
                     ", \"collective\": " + json_quoted(entry.name);
  if (entry.peer >= 0) text += ", \"peer\": " + std::to_string(entry.peer);
  text += ", \"tensor_count\": " + std::to_string(entry.tensor_count) + ", \"shapes\": [" + shapes +
          "], \"dtypes\": [" + dtypes + "], \"state\": \"" + state +
          "\", \"begun_ns\": " + std::to_string(since_1970 + ns_of(entry.begun));
  if (entry.has_ended()) text += ", \"ended_ns\": " + std::to_string(since_1970 + ns_of(entry.ended));
  if (!entry.failure.empty()) text += ", \"error\": " + json_quoted(entry.failure);
  return text + "}";
}

std::string FlightRecorder::json() {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::int64_t now = ns_of(std::chrono::system_clock::now());
  const std::int64_t since_1970 = now - ns_of(Clock::now());  // to what entries have
  std::string entries;
  const std::int64_t size = static_cast<std::int64_t>(ring_.size());
  for (std::int64_t record = std::max<std::int64_t>(0, next_ - size); record < next_; ++record) {
    entries += (entries.empty() ? "" : ",\n") + json_of(ring_[record % size], since_1970);
  }
  return "{\"version\": \"1\", \"process\": " + std::to_string(::getpid()) + ", \"now_ns\": " + std::to_string(now) +
         ", \"entries\": [\n" + entries + "\n]}\n";
}

std::string FlightRecorder::write(int rank) {
  const auto prefix = environment_variable("TANDEM_FLIGHT_RECORD");
  if (!prefix) return "";
  const std::string path = *prefix + ".rank" + std::to_string(rank) + ".json";
  try {
    AtomicFile file(path);
    const std::string text = json();
    file.append(text.data(), text.size());
    file.commit_unsynced();
    return path;
  } catch (const Error&) {  // what it is about is being told without it
    return "";
  }
}

}  // namespace tandem
