// One worker's stdout or stderr on its way to a console.
#pragma once

#include <string>

#include "base/descriptor.h"
#include "launch/console.h"
#include "launch/line_splitter.h"

namespace tandem::launch {

class WorkerStream {
 public:
  // Reads from `source` (set to non-blocking). `id` tells streams apart. `log` may be invalid.
  WorkerStream(int id, Descriptor source, Descriptor log, std::string prefix, Console* console);
  WorkerStream(const WorkerStream&) = delete;
  WorkerStream& operator=(const WorkerStream&) = delete;

  int fd() const { return source_.get(); }
  bool open() const { return source_.valid(); }
  Console& console() const { return *console_; }
  // Passes on one piece of what is there. Returns false when nothing was; at the end the stream closes.
  bool read_some();
  void close();

 private:
  int id_;
  Descriptor source_;
  Descriptor log_;
  std::string prefix_;
  Console* console_;
  std::string last_overwritten_;  // on a terminal: the progress bar that stands there until something replaces it
  bool returned_ = false;         // what comes next overwrites a line
  LineSplitter splitter_;
};

}  // namespace tandem::launch
