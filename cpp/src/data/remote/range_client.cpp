#include "data/remote/range_client.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <random>

#include "data/interruption.h"
#include "tandem/error.h"

namespace tandem::remote {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds kFirstPause{200};
constexpr std::chrono::seconds kLongestPause{10};
constexpr Milliseconds kLongestTimeout{std::chrono::hours(24)};
constexpr long kMostRedirects = 5;
constexpr const char* kFiles = "files on http and s3";

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
  bool again = false;    // whether it may go better
  bool refused = false;  // for want of other keys, it may be
  Milliseconds pause{0};
};

RangeClient::RangeClient(RemoteUrl url, const RemoteOptions& options)
    : url_(std::move(url)),
      attempts_(static_cast<int>(checked("attempts", options.attempts, 1000))),
      connect_milliseconds_(
          checked("connect_timeout, in milliseconds,", options.connect_timeout.count(), kLongestTimeout.count())),
      stalled_seconds_(
          (checked("stall_timeout, in milliseconds,", options.stall_timeout.count(), kLongestTimeout.count()) + 999) /
          1000),
      least_speed_(checked("least_speed", options.least_speed, std::int64_t{1} << 30)),
      request_timeout_(
          checked("request_timeout, in milliseconds,", options.request_timeout.count(), kLongestTimeout.count())),
      keys_(url_.keys) {}

RangeClient::~RangeClient() {
  for (CURL* handle : idle_) curl_library(kFiles).easy_cleanup(handle);
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
  CURL* handle = curl_library(kFiles).easy_init();
  if (!handle) throw std::bad_alloc();
  return handle;
}

void RangeClient::give_back(CURL* handle) {
  curl_library(kFiles).easy_reset(handle);
  const std::lock_guard lock(mutex_);
  idle_.push_back(handle);
}

namespace {

// Sets options of a request. Throws Error(kLibrary) for what this libcurl does not know or take: going on without it
// would be another request than was meant.
class RequestOptions {
 public:
  RequestOptions(const CurlLibrary& curl, CURL* handle, const std::string& shown)
      : curl_(curl), handle_(handle), shown_(shown) {}

  template <typename Value>
  void set(CURLoption option, const char* name, Value value) const {
    const CURLcode code = curl_.easy_setopt(handle_, option, value);
    if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
    if (code != CURLE_OK) {
      throw Error(ErrorCode::kLibrary, "cannot read " + shown_ + ": libcurl refuses " + name + " (" +
                                           curl_.easy_strerror(code) + "); install a newer one, Debian's libcurl4");
    }
  }
  void add_header(curl_slist*& list, const std::string& line) const {
    curl_slist* const longer = curl_.slist_append(list, line.c_str());
    if (!longer) throw std::bad_alloc();
    list = longer;
  }

 private:
  const CurlLibrary& curl_;
  CURL* const handle_;
  const std::string& shown_;
};

#define TANDEM_CURL_SET(options, option, value) (options).set(option, #option, value)

bool is_redirect(long status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// "https://host:443", without which two URLs are of different servers; nothing for what is no URL.
std::optional<std::string> origin_of(const CurlLibrary& curl, const std::string& url) {
  const std::unique_ptr<CURLU, decltype(curl.url_cleanup)> parsed(curl.url(), curl.url_cleanup);
  if (!parsed) throw std::bad_alloc();
  if (curl.url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return {};
  std::string origin;
  for (const CURLUPart part : {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT}) {
    char* text = nullptr;
    if (curl.url_get(parsed.get(), part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return {};
    origin += std::string(origin.empty() ? "" : part == CURLUPART_HOST ? "://" : ":") + text;
    curl.free(text);
  }
  return origin;
}

int stop_when_interrupted(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return is_interrupted() ? 1 : 0;
}

}  // namespace

std::string RangeClient::without_secrets(std::string text) const {
  for (const std::string& secret : url_.secrets) {
    for (std::size_t at; (at = text.find(secret)) != std::string::npos;) text.replace(at, secret.size(), "...");
  }
  return text;
}

std::optional<AwsKeys> RangeClient::new_keys(const AwsKeys& refused) {
  const std::lock_guard lock(mutex_);
  if (keys_ == refused) {
    try {
      keys_ = read_aws_keys();
    } catch (const Error&) {  // of a file that is being written: the request's own failure says more
    }
  }
  if (keys_ == refused) return {};
  return keys_;
}

RangeClient::Attempt RangeClient::try_once(std::uint64_t begin, std::uint64_t length, Milliseconds left,
                                           const AwsKeys& keys) {
  const CurlLibrary& curl = curl_library(kFiles);
  const std::unique_ptr<CURL, std::function<void(CURL*)>> handle(take_handle(), [this](CURL* h) { give_back(h); });
  Body body{{}, length};
  Headers headers;
  char error[CURL_ERROR_SIZE] = "";
  const std::string range = std::to_string(begin) + "-" + std::to_string(begin + length - 1);
  const bool is_signed = !keys.access_key.empty();
  const RequestOptions options(curl, handle.get(), url_.shown);
  TANDEM_CURL_SET(options, CURLOPT_RANGE, range.c_str());
  TANDEM_CURL_SET(options, CURLOPT_NOSIGNAL, 1L);
  // Unknown to libcurl before 7.85, which has another option for it.
  if (curl.easy_setopt(handle.get(), CURLOPT_PROTOCOLS_STR, "http,https") != CURLE_OK) {
    constexpr auto kProtocols = static_cast<CURLoption>(181);  // CURLOPT_PROTOCOLS, which newer headers warn of
    options.set(kProtocols, "CURLOPT_PROTOCOLS", static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
  }
  // libcurl takes headers along to whatever server a redirect names, and the session token is in one.
  TANDEM_CURL_SET(options, CURLOPT_FOLLOWLOCATION, is_signed ? 0L : 1L);
  TANDEM_CURL_SET(options, CURLOPT_MAXREDIRS, kMostRedirects);
  TANDEM_CURL_SET(options, CURLOPT_CONNECTTIMEOUT_MS, connect_milliseconds_);
  TANDEM_CURL_SET(options, CURLOPT_LOW_SPEED_LIMIT, least_speed_);
  TANDEM_CURL_SET(options, CURLOPT_LOW_SPEED_TIME, stalled_seconds_);
  TANDEM_CURL_SET(options, CURLOPT_NOPROGRESS, 0L);
  TANDEM_CURL_SET(options, CURLOPT_XFERINFOFUNCTION, &stop_when_interrupted);
  TANDEM_CURL_SET(options, CURLOPT_USERAGENT, "tandem");
  TANDEM_CURL_SET(options, CURLOPT_WRITEFUNCTION, &receive);
  TANDEM_CURL_SET(options, CURLOPT_WRITEDATA, &body);
  TANDEM_CURL_SET(options, CURLOPT_HEADERFUNCTION, &receive_header);
  TANDEM_CURL_SET(options, CURLOPT_HEADERDATA, &headers);
  TANDEM_CURL_SET(options, CURLOPT_ERRORBUFFER, error);
  curl_slist* more = nullptr;
  const std::unique_ptr<curl_slist*, std::function<void(curl_slist**)>> freed(
      &more, [&curl](curl_slist** list) { curl.slist_free_all(*list); });
  const std::string signature = "aws:amz:" + url_.region + ":s3", pair = keys.access_key + ":" + keys.secret_key;
  if (is_signed) {
    TANDEM_CURL_SET(options, CURLOPT_AWS_SIGV4, signature.c_str());
    TANDEM_CURL_SET(options, CURLOPT_USERPWD, pair.c_str());
    options.add_header(more, "x-amz-content-sha256: UNSIGNED-PAYLOAD");
    if (!keys.session_token.empty()) options.add_header(more, "x-amz-security-token: " + keys.session_token);
    TANDEM_CURL_SET(options, CURLOPT_HTTPHEADER, more);
  }
  CURLcode code = CURLE_OK;
  long status = 0;
  std::string url = url_.http, elsewhere;
  const auto deadline = std::chrono::steady_clock::now() + left;
  for (long redirects = 0;; ++redirects) {
    const auto rest = std::chrono::ceil<Milliseconds>(deadline - std::chrono::steady_clock::now());
    TANDEM_CURL_SET(options, CURLOPT_TIMEOUT_MS, std::max<long>(static_cast<long>(rest.count()), 1));  // 0 is for ever
    body = {{}, length};
    headers = {};
    TANDEM_CURL_SET(options, CURLOPT_URL, url.c_str());
    code = curl.easy_perform(handle.get());
    status = 0;
    curl.easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
    const char* next = nullptr;
    if (!is_signed || !is_redirect(status) || redirects == kMostRedirects ||
        curl.easy_getinfo(handle.get(), CURLINFO_REDIRECT_URL, &next) != CURLE_OK || !next) {
      break;
    }
    const auto from = origin_of(curl, url), to = origin_of(curl, next);
    if (!from || from != to) {
      elsewhere = to.value_or("what is no URL");
      break;
    }
    url = next;
  }

  Attempt attempt;
  const auto refused = [&](ErrorCode kind, const std::string& reason) {
    attempt.code = kind;
    attempt.reason = reason;
    return attempt;
  };
  if (code == CURLE_ABORTED_BY_CALLBACK) return refused(ErrorCode::kAborted, "nobody waits for it any more");
  if (is_signed && is_redirect(status)) {
    return refused(ErrorCode::kInvalidArgument,
                   "the service answers " + std::to_string(status) +
                       (elsewhere.empty() ? "" : ", which leads to " + elsewhere + ", and keys go to no other server") +
                       "; set the bucket's region (AWS_REGION) or endpoint (AWS_ENDPOINT_URL_S3)");
  }
  if (may_pass(status)) {
    attempt.again = true;
    curl_off_t seconds = 0;  // until then, also where the server says a date, which may be over
    curl.easy_getinfo(handle.get(), CURLINFO_RETRY_AFTER, &seconds);
    attempt.pause = std::chrono::seconds(std::clamp<curl_off_t>(seconds, 0, kLongestPause.count()));
    return refused(ErrorCode::kIo, "the server answers " + std::to_string(status));
  }
  if (status == 404 || status == 410) return refused(ErrorCode::kNotFound, "the server has no such file");
  // S3 says of a token that has expired that the request is a bad one.
  attempt.refused = !url_.region.empty() && (status == 400 || status == 401 || status == 403);
  if (status == 401 || status == 403) {
    return refused(ErrorCode::kIo, "the server answers " + std::to_string(status) + ": it wants other credentials" +
                                       (url_.region.empty() ? "" : ", AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"));
  }
  const auto content_range = parse_content_range(headers.content_range);
  if (status == 416 && content_range && content_range->size <= begin) {  // all of it lies before; or there is nothing
    attempt.reply = RangeReply{{}, content_range->size, false, ""};
    return attempt;
  }
  if (attempt.refused) {
    return refused(ErrorCode::kIo, "the server answers 400, as services do to keys and tokens that have expired");
  }
  if (status == 200 && (body.too_long || begin > 0)) {
    return refused(ErrorCode::kUnsupported, "the server does not send parts of files; copy the file here first");
  }
  if (code != CURLE_OK) {
    // Whatever has to do with the connection may pass; what has to do with the request does not.
    attempt.again = code != CURLE_URL_MALFORMAT && code != CURLE_UNSUPPORTED_PROTOCOL &&
                    code != CURLE_TOO_MANY_REDIRECTS && code != CURLE_PEER_FAILED_VERIFICATION &&
                    code != CURLE_SSL_CACERT_BADFILE;
    return refused(ErrorCode::kIo, without_secrets(*error ? error : curl.easy_strerror(code)));
  }
  if (status != 200 && status != 206) {
    return refused(ErrorCode::kIo, "the server answers " + std::to_string(status));
  }
  RangeReply reply;
  reply.file_size = body.bytes.size();
  reply.whole = status == 200;
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
  const auto end = std::chrono::steady_clock::now() + request_timeout_;
  const auto left = [end] {
    return std::chrono::duration_cast<Milliseconds>(end - std::chrono::steady_clock::now());
  };
  Milliseconds pause = kFirstPause;
  AwsKeys keys;
  {
    const std::lock_guard lock(mutex_);
    keys = keys_;
  }
  for (int number = 1;; ++number) {
    Attempt attempt = try_once(begin, length, std::max(left(), Milliseconds(1)), keys);
    while (attempt.refused && left() > left().zero()) {
      const auto others = new_keys(keys);
      if (!others) break;
      keys = *others;
      attempt = try_once(begin, length, std::max(left(), Milliseconds(1)), keys);
    }
    if (attempt.reply) return *std::move(attempt.reply);
    // Not all ranks at the same moment.
    const Milliseconds jitter{std::uniform_int_distribution<Milliseconds::rep>(0, pause.count() / 2)(random)};
    const Milliseconds wait = std::max(attempt.pause, pause / 2 + jitter);
    const bool late = attempt.again && left() <= wait;
    if (!attempt.again || number >= attempts_ || late) {
      std::string tries;
      if (attempt.again) tries = " (" + std::to_string(number) + (number == 1 ? " attempt" : " attempts");
      if (late) tries += " within request_timeout, " + std::to_string(request_timeout_.count()) + " ms";
      if (attempt.again) tries += ")";
      throw Error(attempt.code, "cannot read " + url_.shown + ": " + attempt.reason + tries);
    }
    if (!sleep_unless_interrupted(wait)) {
      throw Error(ErrorCode::kAborted, "cannot read " + url_.shown + ": " + attempt.reason +
                                           "; nobody waits for it any more");
    }
    pause = std::min<Milliseconds>(2 * pause, kLongestPause);
  }
}

}  // namespace tandem::remote
