#include "launch/worker_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/descriptor.h"

namespace tandem::launch {
namespace {

constexpr std::size_t kPiece = 64 << 10;
constexpr std::size_t kLastLines = 10, kLastLineBytes = 1000;

}  // namespace

WorkerStream::WorkerStream(int id, Descriptor source, Descriptor log, std::string prefix, Console* console)
    : id_(id),
      source_(std::move(source)),
      log_(std::move(log)),
      prefix_(std::move(prefix)),
      console_(console),
      splitter_([this](std::string_view line, LineSplitter::End end) { take_line(line, end); }) {
  fcntl(source_.get(), F_SETFL, O_NONBLOCK);
}

void WorkerStream::take_line(std::string_view line, LineSplitter::End end) {
  if (!end_line_.empty() && line == end_line_) {
    has_end_ = true;
    return;
  }
  if (end != LineSplitter::End::kReturn && line.find_first_not_of(' ') != std::string_view::npos) {
    if (last_lines_.size() == kLastLines) last_lines_.pop_front();
    last_lines_.emplace_back(line.substr(0, kLastLineBytes));
  }
  if (console_) show(line, end);
}

void WorkerStream::show(std::string_view line, LineSplitter::End end) {
  const bool blank = line.find_first_not_of(' ') == std::string_view::npos;
  const bool overwrites = std::exchange(returned_, end == LineSplitter::End::kReturn);
  if (end == LineSplitter::End::kReturn) {
    if (!blank) console_->overwritten(id_, prefix_, line);
    // "\r\r" changes nothing; spaces wipe out what stood there.
    if (!line.empty() && console_->terminal()) last_overwritten_ = blank ? std::string_view() : line;
    return;
  }
  // A bar's last act: it wipes itself out and leaves the line unfinished.
  if (end == LineSplitter::End::kStreamEnd && blank && overwrites) {
    console_->unfinished(id_, prefix_, {});
    last_overwritten_.clear();
    return;
  }
  // "\n" after a bar that ended in "\r" leaves the bar standing on a terminal.
  console_->line(id_, prefix_, line.empty() ? std::string_view(last_overwritten_) : line);
  last_overwritten_.clear();
}

bool WorkerStream::read_some() {
  char buffer[kPiece];
  const ssize_t count = read(source_.get(), buffer, sizeof buffer);
  if (count < 0) return errno == EINTR;
  if (count == 0) {
    close();
    return true;
  }
  const std::string_view bytes(buffer, static_cast<std::size_t>(count));
  if (log_.valid() && write_all(log_.get(), bytes.data(), bytes.size()) != bytes.size()) {
    log_error_ = errno;  // a full disk costs the log, not the training
    log_.reset();
  }
  splitter_.feed(bytes);
  if (bytes.size() < kPiece) splitter_.pause();
  if (!console_) return true;
  const std::string_view rest = splitter_.rest();
  console_->unfinished(id_, prefix_, rest.empty() ? std::string_view(last_overwritten_) : rest);
  return true;
}

void WorkerStream::close() {
  if (!source_.valid()) return;
  splitter_.finish();
  if (!last_overwritten_.empty()) {
    console_->line(id_, prefix_, last_overwritten_);
    last_overwritten_.clear();
  }
  source_.reset();
  log_.reset();
}

}  // namespace tandem::launch
