// What a sink has in common with others: a buffer before its file, and a count for messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/recordio/record_sink.h"
#include "tandem/error.h"

namespace tandem::formats {

class BufferedSink : public recordio::RecordSink {
 public:
  explicit BufferedSink(AtomicFile& file) : file_(file) {}
  void add(recordio::Bytes record) final {
    put(record);
    ++records_;
  }
  void finish() override { flush(); }

 protected:
  virtual void put(recordio::Bytes record) = 0;

  void append(recordio::Bytes bytes) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    if (buffer_.size() >= kBuffer) flush();
  }
  void append(std::string_view text) { append({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}); }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::kInvalidArgument,
                file_.path() + " cannot hold record " + std::to_string(records_) + ": " + why);
  }

 private:
  static constexpr std::size_t kBuffer = 1u << 20;

  void flush() {
    file_.append(buffer_.data(), buffer_.size());
    buffer_.clear();
  }

  AtomicFile& file_;
  std::vector<std::uint8_t> buffer_;
  std::int64_t records_ = 0;
};

}  // namespace tandem::formats
