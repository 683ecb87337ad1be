// Where the workers' lines meet: the launcher's stdout or stderr.
#pragma once

#include <string>
#include <string_view>

namespace tandem::launch {

// Puts the lines of many streams into one file, pipe or terminal, each with its stream's prefix, never one inside
// another. Not thread-safe.
//
// Progress bars: a line that ended in "\r" is written so, and the same stream's next line overwrites it, prefix and
// all. When another stream has a line in between, a file or pipe gets a newline first; on a terminal the unfinished
// line stays at the bottom, and others scroll above it.
//
// Writing never blocks while poll(2) is truthful: what the reader does not take waits in a queue, and whoever feeds the
// console stops doing so while it is full().
class Console {
 public:
  // `terminal`: draw as for a terminal.
  Console(int fd, bool terminal) : fd_(fd), terminal_(terminal) {}

  // A finished line of `stream`, without its newline; "" after overwritten() ends what stands there.
  void line(int stream, std::string_view prefix, std::string_view text);
  // A line of `stream` that ended in "\r".
  void overwritten(int stream, std::string_view prefix, std::string_view text);
  // What stands on the unfinished line of `stream` by now; "" for nothing. Shown on terminals only.
  void unfinished(int stream, std::string_view prefix, std::string_view text);
  // Whether no other stream has an unfinished line there.
  bool is_free_for(int stream) const { return open_stream_ == kNobody || open_stream_ == stream; }
  // Ends an unfinished line.
  void finish();

  // Writes as much of the queue as the reader takes.
  void write_some();
  bool full() const { return pending() > kHighWater; }
  std::size_t pending() const { return queue_.size() - written_; }
  // The reader is gone; what is fed from then on is dropped.
  bool broken() const { return broken_; }
  bool terminal() const { return terminal_; }
  int fd() const { return fd_; }

 private:
  static constexpr std::size_t kHighWater = 256 << 10;
  static constexpr int kNobody = -1;

  void clear_bottom();
  void draw_bottom();

  int fd_;
  bool terminal_;
  bool broken_ = false;
  std::string queue_;
  std::size_t written_ = 0;
  int open_stream_ = kNobody;  // whose line stands there without a newline
  std::string bottom_;         // that line, with its prefix (terminals)
};

// `text` cut to what fits into `columns` cells: escape sequences take none, a UTF-8 character one.
std::string_view fit_columns(std::string_view text, std::size_t columns);

}  // namespace tandem::launch
