// Cuts a stream of bytes into lines.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tandem::launch {

// A line ends at "\n", "\r\n", or at a lone "\r", with which progress bars go back to the line's start. A line of more
// than kLongestLine bytes is handed on in pieces.
class LineSplitter {
 public:
  static constexpr std::size_t kLongestLine = 1 << 20;
  enum class End { kNewline, kReturn, kStreamEnd };
  using Handler = std::function<void(std::string_view line, End end)>;

  explicit LineSplitter(Handler handler) : handler_(std::move(handler)) {}

  void feed(std::string_view bytes);
  // Nothing follows for now: a line that ends in "\r" is handed on. "\n" as the next byte is then an empty line.
  void pause();
  // The stream ended: hands on what stands there without an end.
  void finish();
  // The unfinished line.
  std::string_view rest() const { return rest_; }

 private:
  void emit(std::string_view tail, End end);

  Handler handler_;
  std::string rest_;
  bool after_return_ = false;  // a "\r" came last: the next byte decides whether it was the start of "\r\n"
};

}  // namespace tandem::launch
