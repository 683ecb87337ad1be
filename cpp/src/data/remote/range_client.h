// Ranges of a file over HTTP.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/curl_library.h"
#include "data/remote/remote_url.h"

namespace tandem::remote {

struct RangeReply {
  std::vector<std::uint8_t> bytes;
  std::uint64_t file_size = 0;
  bool whole = false;   // the server sent the file rather than a part of it
  std::string version;  // the ETag, or when it was changed; "" where the server says neither
};

// Thread-safe. A request that fails for a reason that may pass (no connection, a reply cut off or too slow, 408, 429,
// 5xx) is made again, after a pause of ten seconds at most, also where the server asks for more. What is signed goes to
// no other server: redirects are followed within one. Keys that are refused are looked for anew, since they expire, and
// the request is made again with others. Errors: Error(kNotFound) for 404 and 410, kUnsupported where a
// server sends files whole only, kInvalidArgument where it sends signed requests elsewhere, kLibrary where libcurl
// cannot do what is asked of it, kAborted where the thread is interrupted (data/interruption.h), kIo for others; all
// name the URL, without its secrets, and what the server said.
class RangeClient {
 public:
  // Throws Error(kInvalidArgument) for options that cannot be.
  RangeClient(RemoteUrl url, const RemoteOptions& options);
  ~RangeClient();
  RangeClient(const RangeClient&) = delete;
  RangeClient& operator=(const RangeClient&) = delete;

  // Bytes [begin, begin + length), fewer at the end of the file.
  RangeReply get(std::uint64_t begin, std::uint64_t length);

 private:
  struct Attempt;
  Attempt try_once(std::uint64_t begin, std::uint64_t length, std::chrono::milliseconds left, const AwsKeys& keys);
  // Of now, where those that were refused are others.
  std::optional<AwsKeys> new_keys(const AwsKeys& refused);
  std::string without_secrets(std::string text) const;
  CURL* take_handle();
  void give_back(CURL* handle);

  const RemoteUrl url_;
  const int attempts_;
  const long connect_milliseconds_, stalled_seconds_, least_speed_;
  const std::chrono::milliseconds request_timeout_;
  std::mutex mutex_;
  AwsKeys keys_;             // of S3
  std::vector<CURL*> idle_;  // with their connections
};

}  // namespace tandem::remote
