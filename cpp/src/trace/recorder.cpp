#include "trace/recorder.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/atomic_file.h"
#include "tandem/error.h"
#include "trace/json.h"

namespace tandem {
namespace {

constexpr std::size_t kPiece = 1 << 20;

// The format counts microseconds.
std::string microseconds(std::int64_t nanoseconds) {
  char text[48];
  const char* sign = nanoseconds < 0 ? "-" : "";
  const std::uint64_t size = nanoseconds < 0 ? -static_cast<std::uint64_t>(nanoseconds) : nanoseconds;
  std::snprintf(text, sizeof text, "%s%llu.%03llu", sign, static_cast<unsigned long long>(size / 1000),
                static_cast<unsigned long long>(size % 1000));
  return text;
}

std::string named(const char* what, int rank, int track, const std::string& name) {
  return std::string("{\"ph\": \"M\", \"name\": \"") + what + "\", \"pid\": " + std::to_string(rank) +
         ", \"tid\": " + std::to_string(track) + ", \"args\": {\"name\": " + json_quoted(name) + "}}";
}

}  // namespace

std::string TraceIdentity::json(const std::string& kind, std::int64_t shift_ns, std::int64_t dropped) const {
  return "{\"version\": 1, \"kind\": " + json_quoted(kind) + ", \"run\": " + json_quoted(run) +
         ", \"rank\": " + std::to_string(rank) + ", \"world_size\": " + std::to_string(world_size) +
         ", \"host\": " + json_quoted(host) + ", \"process\": " + std::to_string(::getpid()) +
         ", \"backend\": " + json_quoted(backend) + ", \"clock_offset_ns\": " + std::to_string(offset_ns) +
         ", \"clock_error_ns\": " + std::to_string(error_ns) + ", \"shift_ns\": " + std::to_string(shift_ns) +
         ", \"dropped\": " + std::to_string(dropped) + "}";
}

TraceRecorder& TraceRecorder::instance() {
  static auto* recorder = new TraceRecorder;
  return *recorder;
}

bool TraceRecorder::start(TraceIdentity identity, std::int64_t most_events) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (on_) return false;
  identity_ = std::move(identity);
  most_events_ = static_cast<std::size_t>(most_events);
  dropped_ = 0;
  events_.clear();
  tracks_.clear();
  started_ = std::chrono::steady_clock::now();
  on_ = true;
  return true;
}

std::optional<TraceIdentity> TraceRecorder::identity() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return on_ ? std::optional(identity_) : std::nullopt;
}

void TraceRecorder::add(Event event, Time begun, Time ended) {
  const auto since_epoch = [](Time time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  };
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!on_ || begun < started_) return;
  if (events_.size() >= most_events_) {
    ++dropped_;
    return;
  }
  const std::int64_t shift = identity_.offset_ns - identity_.epoch_ns;
  event.begun = since_epoch(begun) + shift;
  event.ended = since_epoch(ended) + shift;
  events_.push_back(std::move(event));
}

void TraceRecorder::span(int track, const std::string& track_name, std::string name, Time begun, Time ended,
                         std::string arguments) {
  if (!on()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    tracks_.emplace(track, track_name);
  }
  add({std::move(name), nullptr, track, 0, 0, std::move(arguments)}, begun, ended);
}

void TraceRecorder::exchange(const char* category, std::string name, Time begun, Time ended, std::string arguments) {
  if (!on()) return;
  add({std::move(name), category, 0, 0, 0, std::move(arguments)}, begun, ended);
}

void TraceRecorder::stop(const std::string& path) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!on_) throw Error(ErrorCode::kInvalidArgument, "no trace of this process is on; start one first");
  AtomicFile file(path);
  std::string text =
      "{\"displayTimeUnit\": \"ms\",\n\"tandem\": " + identity_.json("trace", 0, dropped_) + ",\n\"traceEvents\": [\n" +
      named("process_name", identity_.rank, 0, "rank " + std::to_string(identity_.rank) + " on " + identity_.host);
  for (const auto& [track, name] : tracks_) text += ",\n" + named("thread_name", identity_.rank, track, name);
  std::int64_t number = 0;
  for (const Event& event : events_) {
    const std::string common = ", \"name\": " + json_quoted(event.name) +
                               ", \"pid\": " + std::to_string(identity_.rank) +
                               ", \"tid\": " + std::to_string(event.track);
    if (!event.category) {
      text += ",\n{\"ph\": \"X\"" + common + ", \"ts\": " + microseconds(event.begun) +
              ", \"dur\": " + microseconds(event.ended - event.begun) + ", \"args\": {" + event.arguments + "}}";
    } else {
      // The rank keeps those of different files apart.
      const std::string pair = common + std::string(", \"cat\": \"") + event.category + "\", \"id\": \"" +
                               std::to_string(identity_.rank) + "." + std::to_string(number++) + "\"";
      text += ",\n{\"ph\": \"b\"" + pair + ", \"ts\": " + microseconds(event.begun) + ", \"args\": {" +
              event.arguments + "}},\n{\"ph\": \"e\"" + pair + ", \"ts\": " + microseconds(event.ended) + "}";
    }
    if (text.size() < kPiece) continue;
    file.append(text.data(), text.size());
    text.clear();
  }
  text += "\n]}\n";
  file.append(text.data(), text.size());
  file.commit();
  on_ = false;
  events_ = {};
}

void TraceRecorder::discard() {
  const std::lock_guard<std::mutex> lock(mutex_);
  on_ = false;
  events_ = {};
}

}  // namespace tandem
