// The last collectives of this process, of all its groups, in a ring: for whoever asks why ranks wait for each other.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "comm/collective.h"

namespace tandem {

// Thread-safe.
class FlightRecorder {
 public:
  static FlightRecorder& instance();

  // Notes that a collective begins. The number is for end(). -1 when nothing is recorded (TANDEM_FLIGHT_RECORD_SIZE=0).
  std::int64_t begin(const std::string& group, int rank, int size, const Collective& collective);
  // Notes its end; `failure` is "" after success.
  void end(std::int64_t record, const std::string& failure);

  // {"version": "1", "entries": [{"group": …, "sequence": …, …}]}, oldest first; times in ns since 1970.
  std::string json();

  // Writes json() to "<TANDEM_FLIGHT_RECORD>.rank<rank>.json", beside it first, then renamed, and returns the name; ""
  // when the variable is not set or nothing could be written.
  std::string write(int rank);

 private:
  using Clock = std::chrono::steady_clock;
  struct Shape {
    std::int8_t dtype = 0;
    std::vector<std::int64_t> sizes;
  };
  struct Entry {
    std::int64_t record = -1;
    std::string group;
    int rank = 0;
    int size = 0;
    const char* name = "";
    std::uint64_t sequence = 0;
    bool point_to_point = false;
    int peer = -1;
    std::size_t tensor_count = 0;
    Shape shapes[4];  // of the first tensors; their room is used again
    Clock::time_point begun;
    Clock::time_point ended{};
    std::string failure;

    bool has_ended() const { return ended != Clock::time_point(); }
  };

  FlightRecorder();
  static std::string json_of(const Entry& entry, std::int64_t since_1970);

  std::mutex mutex_;
  std::vector<Entry> ring_;
  std::int64_t next_ = 0;
};

}  // namespace tandem
