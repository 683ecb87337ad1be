#include "data/remote/range_client.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <random>
#include <thread>

#include "tandem/error.h"

namespace tandem::remote {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds kFirstPause{200};
constexpr std::chrono::seconds kLongestPause{10};  // nothing ends one early
constexpr Milliseconds kLongestTimeout{std::chrono::hours(24)};
constexpr long kMostRedirects = 5;

// What a reply's header lines say.
struct Headers {
  std::string content_range, etag, last_modified;

  void take(std::string_view line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == '\n' || line.back() == ' ')) line.remove_suffix(1);
    if (line.starts_with("HTTP/")) {  // a redirect's are over
      *this = {};
      return;
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return;
    std::string name(line.substr(0, colon));
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    if (name == "content-range") content_range = value;
    if (name == "etag") etag = value;
    if (name == "last-modified") last_modified = value;
  }
};

// "bytes 0-99/1234", or "bytes */0".
struct ContentRange {
  std::uint64_t begin = 0, size = 0;
};

std::optional<ContentRange> parse_content_range(const std::string& text) {
  const auto slash = text.find('/');
  if (!text.starts_with("bytes ") || slash == std::string::npos) return {};
  ContentRange range;
  const char* const end = text.data() + text.size();
  const auto size = std::from_chars(text.data() + slash + 1, end, range.size);
  if (size.ec != std::errc() || size.ptr != end) return {};
  if (text[6] != '*' && std::from_chars(text.data() + 6, end, range.begin).ec != std::errc()) return {};
  return range;
}

// What is received of a body: no more than was asked for.
struct Body {
  std::vector<std::uint8_t> bytes;
  std::uint64_t most;
  bool too_long = false;
};

std::size_t receive(char* data, std::size_t one, std::size_t size, void* to) {
  auto& body = *static_cast<Body*>(to);
  size *= one;
  if (size > body.most - body.bytes.size()) {
    body.too_long = true;
    return 0;
  }
  try {
    body.bytes.insert(body.bytes.end(), data, data + size);
  } catch (const std::bad_alloc&) {
    return 0;
  }
  return size;
}

std::size_t receive_header(char* data, std::size_t one, std::size_t size, void* to) {
  static_cast<Headers*>(to)->take({data, one * size});
  return one * size;
}

long checked(const char* name, std::int64_t value, std::int64_t most) {
  if (value >= 1 && value <= most) return static_cast<long>(value);
  throw Error(ErrorCode::kInvalidArgument,
              std::string(name) + " is " + std::to_string(value) + ", but must be from 1 to " + std::to_string(most));
}

bool may_pass(long status) {
  return status == 408 || status == 429 || (status >= 500 && status != 501);
}

}  // namespace

// How a request ended: with a reply, or for a reason.
struct RangeClient::Attempt {
  std::optional<RangeReply> reply;
  ErrorCode code = ErrorCode::kIo;
  std::string reason;
  bool again = false;  // whether it may go better
  Milliseconds pause{0};
};

RangeClient::RangeClient(RemoteUrl url, const RemoteOptions& options)
    : url_(std::move(url)),
      attempts_(static_cast<int>(checked("attempts", options.attempts, 1000))),
      connect_milliseconds_(
          checked("connect_timeout, in milliseconds,", options.connect_timeout.count(), kLongestTimeout.count())),
      stalled_seconds_(
          (checked("stall_timeout, in milliseconds,", options.stall_timeout.count(), kLongestTimeout.count()) + 999) /
          1000) {}

RangeClient::~RangeClient() {
  for (CURL* handle : idle_) curl_library().easy_cleanup(handle);
}

CURL* RangeClient::take_handle() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      CURL* handle = idle_.back();
      idle_.pop_back();
      return handle;
    }
  }
  CURL* handle = curl_library().easy_init();
  if (!handle) throw std::bad_alloc();
  return handle;
}

void RangeClient::give_back(CURL* handle) {
  curl_library().easy_reset(handle);
  const std::lock_guard lock(mutex_);
  idle_.push_back(handle);
}

RangeClient::Attempt RangeClient::try_once(std::uint64_t begin, std::uint64_t length) {
  const CurlLibrary& curl = curl_library();
  const std::unique_ptr<CURL, std::function<void(CURL*)>> handle(take_handle(), [this](CURL* h) { give_back(h); });
  Body body{{}, length};
  Headers headers;
  char error[CURL_ERROR_SIZE] = "";
  const std::string range = std::to_string(begin) + "-" + std::to_string(begin + length - 1);
  const auto set = [&](CURLoption option, auto value) { curl.easy_setopt(handle.get(), option, value); };
  set(CURLOPT_URL, url_.http.c_str());
  set(CURLOPT_RANGE, range.c_str());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 1L);
  set(CURLOPT_MAXREDIRS, kMostRedirects);
  set(CURLOPT_CONNECTTIMEOUT_MS, connect_milliseconds_);
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, stalled_seconds_);
  set(CURLOPT_USERAGENT, "tandem");
  set(CURLOPT_WRITEFUNCTION, &receive);
  set(CURLOPT_WRITEDATA, &body);
  set(CURLOPT_HEADERFUNCTION, &receive_header);
  set(CURLOPT_HEADERDATA, &headers);
  set(CURLOPT_ERRORBUFFER, error);
  std::unique_ptr<curl_slist, decltype(curl.slist_free_all)> more(nullptr, curl.slist_free_all);
  const std::string signature = "aws:amz:" + url_.region + ":s3", keys = url_.access_key + ":" + url_.secret_key;
  if (!url_.access_key.empty()) {
    set(CURLOPT_AWS_SIGV4, signature.c_str());
    set(CURLOPT_USERPWD, keys.c_str());
    more.reset(curl.slist_append(nullptr, "x-amz-content-sha256: UNSIGNED-PAYLOAD"));
    if (!url_.session_token.empty()) {
      curl.slist_append(more.get(), ("x-amz-security-token: " + url_.session_token).c_str());
    }
    set(CURLOPT_HTTPHEADER, more.get());
  }
  const CURLcode code = curl.easy_perform(handle.get());
  long status = 0;
  curl.easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);

  Attempt attempt;
  const auto refused = [&](ErrorCode kind, const std::string& reason) {
    attempt.code = kind;
    attempt.reason = reason;
    return attempt;
  };
  if (may_pass(status)) {
    attempt.again = true;
    curl_off_t seconds = 0;  // until then, also where the server says a date, which may be over
    curl.easy_getinfo(handle.get(), CURLINFO_RETRY_AFTER, &seconds);
    attempt.pause = std::chrono::seconds(std::clamp<curl_off_t>(seconds, 0, kLongestPause.count()));
    return refused(ErrorCode::kIo, "the server answers " + std::to_string(status));
  }
  if (status == 404 || status == 410) return refused(ErrorCode::kNotFound, "the server has no such file");
  if (status == 401 || status == 403) {
    return refused(ErrorCode::kIo, "the server answers " + std::to_string(status) + ": it wants other credentials" +
                                       (url_.region.empty() ? "" : ", AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"));
  }
  const auto content_range = parse_content_range(headers.content_range);
  if (status == 416 && content_range && content_range->size <= begin) {  // all of it lies before; or there is nothing
    attempt.reply = RangeReply{{}, content_range->size, ""};
    return attempt;
  }
  if (status == 200 && (body.too_long || begin > 0)) {
    return refused(ErrorCode::kUnsupported, "the server does not send parts of files; copy the file here first");
  }
  if (code != CURLE_OK) {
    // Whatever has to do with the connection may pass; what has to do with the request does not.
    attempt.again = code != CURLE_URL_MALFORMAT && code != CURLE_UNSUPPORTED_PROTOCOL &&
                    code != CURLE_TOO_MANY_REDIRECTS && code != CURLE_PEER_FAILED_VERIFICATION &&
                    code != CURLE_SSL_CACERT_BADFILE;
    return refused(ErrorCode::kIo, *error ? error : curl.easy_strerror(code));
  }
  if (status != 200 && status != 206) {
    return refused(ErrorCode::kIo, "the server answers " + std::to_string(status));
  }
  RangeReply reply;
  reply.file_size = body.bytes.size();
  if (status == 206) {
    if (!content_range || content_range->begin != begin) {
      return refused(ErrorCode::kIo, "the server sends another part of the file than was asked for");
    }
    reply.file_size = content_range->size;
    const std::uint64_t expected = std::min(length, content_range->size - std::min(begin, content_range->size));
    if (body.bytes.size() != expected) {
      attempt.again = true;
      return refused(ErrorCode::kIo, "the reply ends after " + std::to_string(body.bytes.size()) + " of " +
                                         std::to_string(expected) + " bytes");
    }
  }
  reply.version = headers.etag.empty() ? headers.last_modified : headers.etag;
  reply.bytes = std::move(body.bytes);
  attempt.reply = std::move(reply);
  return attempt;
}

RangeReply RangeClient::get(std::uint64_t begin, std::uint64_t length) {
  thread_local std::minstd_rand random(std::random_device{}());
  Milliseconds pause = kFirstPause;
  for (int number = 1;; ++number) {
    Attempt attempt = try_once(begin, length);
    if (attempt.reply) return *std::move(attempt.reply);
    if (!attempt.again || number >= attempts_) {
      throw Error(attempt.code, "cannot read " + url_.shown + ": " + attempt.reason +
                                    (attempt.again ? " (" + std::to_string(number) + " attempts)" : ""));
    }
    // Not all ranks at the same moment.
    const Milliseconds jitter{std::uniform_int_distribution<Milliseconds::rep>(0, pause.count() / 2)(random)};
    std::this_thread::sleep_for(std::max(attempt.pause, pause / 2 + jitter));
    pause = std::min<Milliseconds>(2 * pause, kLongestPause);
  }
}

}  // namespace tandem::remote
