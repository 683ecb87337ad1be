// One worker's stdout or stderr on its way to a console.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "launch/console.h"
#include "launch/line_splitter.h"

namespace tandem::launch {

class WorkerStream {
 public:
  // Reads from `source` (set to non-blocking). `id` tells streams apart. `log` may be invalid, `console` NULL where
  // nothing is shown.
  WorkerStream(int id, Descriptor source, Descriptor log, std::string prefix, Console* console);
  WorkerStream(const WorkerStream&) = delete;
  WorkerStream& operator=(const WorkerStream&) = delete;

  int fd() const { return source_.get(); }
  bool open() const { return source_.valid(); }
  // Nothing more is to be read before the console's reader has taken some.
  bool held_up() const { return console_ && console_->full(); }
  // Why the log could not be written any further: errno, once; else 0.
  int take_log_error() { return std::exchange(log_error_, 0); }
  // The last few, also of what is not shown.
  std::vector<std::string> last_lines() const { return {last_lines_.begin(), last_lines_.end()}; }
  // A line that is not shown, and is the last: whether it came.
  void await_end(std::string line) { end_line_ = std::move(line); }
  bool has_end() const { return has_end_; }
  // Passes on one piece of what is there. Returns false when nothing was; at the end the stream closes.
  bool read_some();
  void close();

 private:
  int id_;
  Descriptor source_;
  Descriptor log_;
  std::string prefix_;
  Console* console_;
  void take_line(std::string_view line, LineSplitter::End end);
  void show(std::string_view line, LineSplitter::End end);

  std::deque<std::string> last_lines_;
  std::string end_line_;  // "": none
  bool has_end_ = false;
  int log_error_ = 0;
  std::string last_overwritten_;  // on a terminal: the progress bar that stands there until something replaces it
  bool returned_ = false;         // what comes next overwrites a line
  LineSplitter splitter_;
};

}  // namespace tandem::launch
