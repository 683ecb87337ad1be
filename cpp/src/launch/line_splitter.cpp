#include "launch/line_splitter.h"

namespace tandem::launch {

void LineSplitter::emit(std::string_view tail, End end) {
  if (rest_.empty()) {
    handler_(tail, end);
    return;
  }
  rest_.append(tail);
  handler_(rest_, end);
  rest_.clear();
}

void LineSplitter::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (after_return_) {
      after_return_ = false;
      if (bytes.front() == '\n') {
        emit({}, End::kNewline);
        bytes.remove_prefix(1);
        continue;
      }
      emit({}, End::kReturn);
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view piece = bytes.substr(0, end);
    if (rest_.size() + piece.size() > kLongestLine) {
      const std::size_t room = kLongestLine - rest_.size();
      emit(piece.substr(0, room), End::kNewline);
      bytes.remove_prefix(room);
      continue;
    }
    if (end == std::string_view::npos) {
      rest_.append(piece);
      return;
    }
    if (bytes[end] == '\n') {
      emit(piece, End::kNewline);
    } else {
      rest_.append(piece);
      after_return_ = true;
    }
    bytes.remove_prefix(end + 1);
  }
}

void LineSplitter::pause() {
  if (!after_return_ || rest_.empty()) return;
  emit({}, End::kReturn);
  after_return_ = false;
}

void LineSplitter::finish() {
  if (after_return_ || !rest_.empty()) emit({}, after_return_ ? End::kReturn : End::kStreamEnd);
  after_return_ = false;
}

}  // namespace tandem::launch
