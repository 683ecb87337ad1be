// Programs that the doctor runs, so that what they do wrong ends them and not it.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "launch/signals.h"

namespace tandem::doctor {

using Clock = std::chrono::steady_clock;

// What may end the doctor while it waits: signals, and whoever it works for.
class Interruption {
 public:
  // `control`, where it is not -1: what comes there while the doctor waits, as its end, ends it.
  explicit Interruption(const launch::Signals& signals, int control = -1)
      : signals_(signals), signal_fd_(signals.open()), control_(control) {}

  const launch::Signals& signals() const { return signals_; }
  // Until something is to be read or written there, a child has ended, or `until`. Throws launch::Failure when the
  // doctor is to end.
  void wait(std::vector<pollfd> polled, Clock::time_point until);
  // The same where control is for the caller to read: it may be among `polled`.
  void wait_for_orders(std::vector<pollfd>& polled, Clock::time_point until);

 private:
  const launch::Signals& signals_;
  Descriptor signal_fd_;
  int control_;
};

// For what is told to end: longer than a launcher gives its ranks.
inline constexpr std::chrono::seconds kToEnd{8};

// A program with its output kept. Not left behind: the destructor ends it, and it dies with the doctor.
class Process {
 public:
  // Starts `command`, whose first word is found in PATH, leading a process group of its own and without the PET_…
  // variables, which say what another launch is like. Throws launch::Failure where no process can be started.
  Process(const std::vector<std::string>& command, const launch::Signals& signals, bool has_input = false);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  bool ended() const { return status_.has_value(); }
  // Of waitpid(2).
  int status() const { return *status_; }
  // In shell's terms: 128 + N after signal N.
  int code() const;
  // "exited with code 3", "was killed by SIGSEGV".
  std::string end() const;
  // More came than is kept of answers.
  bool said_too_much() const { return said_too_much_; }
  // The last that came.
  const std::string& err() const { return err_; }
  std::string last_line_of_stderr() const;
  // What follows kMarker in the next whole line of stdout that has it.
  std::optional<std::string> next_answer();

  void send(const std::string& text);
  void close_input();
  void add_polled(std::vector<pollfd>* polled) const;
  void serve();
  // Has it end: SIGTERM, and SIGKILL after `patience`. Once: what cannot be ended is not waited for again.
  void stop(std::chrono::seconds patience = kToEnd);

 private:
  void take_output();

  pid_t pid_ = -1;
  Descriptor in_, out_fd_, err_fd_;
  std::string unsent_, out_, err_;
  std::size_t answered_ = 0;  // of out_
  bool said_too_much_ = false, is_stopped_ = false;
  std::optional<int> status_;
};

// Runs it to its end, or `seconds` long; then it is stopped, with `patience`, and has_ended is false.
struct Outcome {
  bool has_ended = false;
  int code = 0;
  std::string end;
  std::vector<nlohmann::json> answers;
  std::string err;  // the last that came
  std::string last_line_of_stderr;
};
Outcome run_program(const std::vector<std::string>& command, double seconds, Interruption& interruption,
                    std::chrono::seconds patience = kToEnd);

// What a child of the doctor's says: JSON behind this up to the line's end, for others may write to stdout as well.
inline constexpr const char* kMarker = "tandem-doctor: ";
void answer(const nlohmann::json& message);

std::chrono::milliseconds seconds_of(double seconds);

}  // namespace tandem::doctor
