#include "etcd/client.h"

#include <fcntl.h>

#include <algorithm>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/curl_library.h"
#include "base/json_document.h"
#include "tandem/error.h"

namespace tandem::etcd {
namespace {

constexpr std::size_t kMostBytes = 1 << 20;  // of an answer: keys of ours are small
constexpr int kUnauthenticated = 16;         // gRPC's codes
constexpr int kUnavailable = 14;
constexpr int kDeadlineExceeded = 4;
constexpr int kUnknown = 2;

constexpr const char* kJobs = "jobs whose agents elect one by etcd";

const CurlLibrary& curl() { return curl_library(kJobs); }
const CurlMultiLibrary& multi() { return curl_multi_library(kJobs); }

template <typename Value>
void set(CURL* handle, CURLoption option, Value value) {
  if (const CURLcode code = curl().easy_setopt(handle, option, value); code != CURLE_OK) {
    throw Error(ErrorCode::kInvalidArgument, std::string("libcurl cannot do what etcd is asked by: ") + curl().easy_strerror(code));
  }
}

}  // namespace

// One call at a time, over connections that stay open.
class Client::Transfer {
 public:
  explicit Transfer(ClientOptions options) : options_(std::move(options)), easy_(curl().easy_init()), multi_(multi().init()) {
    if (!multi_ || !easy_) throw Error(ErrorCode::kLibrary, "libcurl cannot be initialised");
    multi().setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Transfer::on_socket);
    multi().setopt(multi_, CURLMOPT_SOCKETDATA, this);
    multi().setopt(multi_, CURLMOPT_TIMERFUNCTION, &Transfer::on_timer);
    multi().setopt(multi_, CURLMOPT_TIMERDATA, this);
    set(easy_, CURLOPT_POST, 1L);
    set(easy_, CURLOPT_NOSIGNAL, 1L);
    set(easy_, CURLOPT_NOPROXY, "*");  // what a job's nodes say to each other passes none
    set(easy_, CURLOPT_TIMEOUT_MS, static_cast<long>(options_.timeout.count()));
    set(easy_, CURLOPT_WRITEFUNCTION, &Transfer::on_bytes);
    set(easy_, CURLOPT_WRITEDATA, this);
    set(easy_, CURLOPT_ERRORBUFFER, error_);
    set(easy_, CURLOPT_SOCKOPTFUNCTION, &Transfer::on_new_socket);
    curl().easy_setopt(easy_, CURLOPT_QUICK_EXIT, 1L);  // waits for no name server, where libcurl can do without
    if (!options_.ca_file.empty()) set(easy_, CURLOPT_CAINFO, options_.ca_file.c_str());
    if (!options_.certificate_file.empty()) set(easy_, CURLOPT_SSLCERT, options_.certificate_file.c_str());
    if (!options_.key_file.empty()) set(easy_, CURLOPT_SSLKEY, options_.key_file.c_str());
  }

  ~Transfer() {
    if (running_) multi().remove_handle(multi_, easy_);
    curl().easy_cleanup(easy_);
    multi().cleanup(multi_);
    curl().slist_free_all(headers_);
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  void call(std::string path, std::string body, Done done) {
    if (done_) throw Error(ErrorCode::kInternal, "etcd is asked while it has not answered");
    path_ = std::move(path);
    body_ = std::move(body);
    done_ = std::move(done);
    tried_ = 0;
    signed_in_again_ = false;
    why_.clear();
    send();
  }

  bool is_busy() const { return static_cast<bool>(done_); }

  void add_polled(std::vector<pollfd>* polled) const {
    for (const auto& [socket, events] : sockets_) polled->push_back({socket, events, 0});
  }

  std::optional<Clock::time_point> deadline() const { return timer_; }

  void serve() {
    int running = 0;
    std::vector<pollfd> polled;
    add_polled(&polled);
    if (!polled.empty() && poll(polled.data(), polled.size(), 0) > 0) {
      for (const pollfd& one : polled) {
        int events = 0;
        if (one.revents & POLLIN) events |= CURL_CSELECT_IN;
        if (one.revents & POLLOUT) events |= CURL_CSELECT_OUT;
        if (one.revents & (POLLERR | POLLHUP | POLLNVAL)) events |= CURL_CSELECT_ERR;
        if (events) multi().socket_action(multi_, one.fd, events, &running);
      }
    }
    if (timer_ && Clock::now() >= *timer_) {
      timer_.reset();
      multi().socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    int left = 0;
    while (const CURLMsg* message = multi().info_read(multi_, &left)) {
      if (message->msg == CURLMSG_DONE) finished(message->data.result);
    }
  }

 private:
  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
    auto& sockets = static_cast<Transfer*>(self)->sockets_;
    if (what == CURL_POLL_REMOVE) {
      sockets.erase(socket);
    } else {
      sockets[socket] = static_cast<short>((what & CURL_POLL_IN ? POLLIN : 0) | (what & CURL_POLL_OUT ? POLLOUT : 0));
    }
    return 0;
  }

  // Workers are to have none of them.
  static int on_new_socket(void*, curl_socket_t socket, curlsocktype) {
    return fcntl(socket, F_SETFD, FD_CLOEXEC) == 0 ? CURL_SOCKOPT_OK : CURL_SOCKOPT_ERROR;
  }

  static int on_timer(CURLM*, long timeout_ms, void* self) {
    auto& timer = static_cast<Transfer*>(self)->timer_;
    if (timeout_ms < 0) {
      timer.reset();
    } else {
      timer = Clock::now() + std::chrono::milliseconds(timeout_ms);
    }
    return 0;
  }

  static std::size_t on_bytes(char* data, std::size_t one, std::size_t count, void* to) {
    auto& answer = static_cast<Transfer*>(to)->answer_;
    const std::size_t size = one * count;
    if (size > kMostBytes - answer.size()) return 0;
    try {
      answer.append(data, size);
    } catch (const std::bad_alloc&) {
      return 0;
    }
    return size;
  }

  const std::string& server() const { return options_.servers[(first_ + tried_) % options_.servers.size()]; }

  // The call, or the one that says who this is.
  void send() {
    signs_in_ = !options_.user.empty() && token_.empty();
    sent_ = signs_in_ ? nlohmann::json{{"name", options_.user}, {"password", options_.password}}.dump() : body_;
    url_ = server() + (signs_in_ ? "/v3/auth/authenticate" : path_);
    answer_.clear();
    error_[0] = '\0';
    curl().slist_free_all(headers_);
    headers_ = curl().slist_append(nullptr, "Content-Type: application/json");
    headers_ = curl().slist_append(headers_, "Expect:");
    if (!signs_in_ && !token_.empty()) headers_ = curl().slist_append(headers_, ("Authorization: " + token_).c_str());
    set(easy_, CURLOPT_URL, url_.c_str());
    set(easy_, CURLOPT_HTTPHEADER, headers_);
    set(easy_, CURLOPT_POSTFIELDS, sent_.c_str());
    set(easy_, CURLOPT_POSTFIELDSIZE, static_cast<long>(sent_.size()));
    running_ = multi().add_handle(multi_, easy_) == CURLM_OK;
    if (!running_) throw Error(ErrorCode::kLibrary, "libcurl takes no call to etcd");
  }

  void finished(CURLcode code) {
    multi().remove_handle(multi_, easy_);
    running_ = false;
    if (code != CURLE_OK) return next_server(error_[0] ? error_ : curl().easy_strerror(code));
    nlohmann::json content;
    try {
      content = parse_json_document(answer_);
      if (!content.is_object()) throw std::invalid_argument("is no object");
    } catch (const std::exception& error) {
      return next_server(std::string("its answer is no etcd's (") + error.what() + "); is that its client URL?");
    }
    long status = 0;
    curl().easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    if (status == 200) return answered(std::move(content));
    // Of calls that stream it is an object.
    const nlohmann::json said = content.contains("error") && content["error"].is_object() ? content["error"] : content;
    const auto text_of = [&](const char* name) { return said.contains(name) && said[name].is_string() ? said[name].get<std::string>() : ""; };
    std::string why = text_of("message").empty() ? text_of("error") : text_of("message");
    if (why.empty()) why = "status " + std::to_string(status);
    const char* code_name = said.contains("grpc_code") ? "grpc_code" : "code";
    const int kind = said.contains(code_name) && said[code_name].is_number_integer() ? said[code_name].get<int>() : -1;
    const auto has = [&](const char* text) { return why.find(text) != std::string::npos; };
    const bool is_old_token = kind == kUnauthenticated || has("invalid auth token") || has("auth store is old") || has("user name is empty");
    if (is_old_token && !signs_in_ && !options_.user.empty() && !std::exchange(signed_in_again_, true)) {
      token_.clear();
      return send();
    }
    if (kind == kUnavailable || kind == kDeadlineExceeded || (kind == kUnknown && status >= 500)) return next_server(why);
    end({nullptr, "etcd at " + server() + ": " + why, true});
  }

  void answered(nlohmann::json content) {
    if (!signs_in_) {
      first_ = (first_ + tried_) % options_.servers.size();
      return end({std::make_unique<nlohmann::json>(std::move(content)), "", false});
    }
    if (content.contains("token") && content["token"].is_string()) token_ = content["token"].get<std::string>();
    if (token_.empty()) return next_server("it gives no token");
    send();
  }

  void next_server(const std::string& why) {
    why_ += (why_.empty() ? "" : "; ") + server() + ": " + why;
    token_.clear();
    if (++tried_ < options_.servers.size()) return send();
    first_ = (first_ + 1) % options_.servers.size();
    end({nullptr, "etcd at " + why_, false});
  }

  void end(Reply reply) { std::exchange(done_, {})(std::move(reply)); }

  const ClientOptions options_;
  CURL* const easy_;
  CURLM* const multi_;
  curl_slist* headers_ = nullptr;
  std::map<curl_socket_t, short> sockets_;
  std::optional<Clock::time_point> timer_;
  bool running_ = false;
  std::size_t first_ = 0;  // the server that answered last
  std::size_t tried_ = 0;  // after that one
  std::string token_;
  bool signs_in_ = false, signed_in_again_ = false;
  std::string path_, body_, url_, sent_, answer_, why_;
  char error_[CURL_ERROR_SIZE] = "";
  Done done_;
};

Client::Client(ClientOptions options) : transfer_(std::make_unique<Transfer>(std::move(options))) {}
Client::~Client() = default;

void Client::call(std::string path, const nlohmann::json& body, Done done) {
  transfer_->call(std::move(path), body.dump(), std::move(done));
}
bool Client::is_busy() const { return transfer_->is_busy(); }
void Client::add_polled(std::vector<pollfd>* polled) const { transfer_->add_polled(polled); }
std::optional<Client::Clock::time_point> Client::deadline() const { return transfer_->deadline(); }
void Client::serve() { transfer_->serve(); }

}  // namespace tandem::etcd
