// An etcd v3 cluster, through the HTTP gateway that its servers have.
#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tandem::etcd {

struct ClientOptions {
  std::vector<std::string> servers;  // of one cluster: "http://10.0.0.1:2379", or https
  std::string user, password;        // "": it asks for none
  std::string ca_file;               // PEM; "": those that the system trusts
  std::string certificate_file, key_file;  // PEM, of this client; "": it has none
  std::chrono::milliseconds timeout{2000};  // of a call to one of the servers
};

// What a call was answered. Where it has no `content`, `why` says why, with the server's name.
struct Reply {
  std::unique_ptr<nlohmann::json> content;
  std::string why;
  bool refused = false;  // by a server that understood it: it would be so again
};

// For a loop around poll(2), which it never blocks; not thread-safe. A call that one server cannot answer goes to the
// next one, so it may be carried out twice.
class Client {
 public:
  using Clock = std::chrono::steady_clock;
  using Done = std::function<void(Reply)>;

  // Throws Error(kLibrary) without libcurl, and (kInvalidArgument) for what libcurl does not take.
  explicit Client(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // POSTs `body` to `path`, as "/v3/kv/range". One call at a time. `done` is called by serve().
  void call(std::string path, const nlohmann::json& body, Done done);
  bool is_busy() const;

  void add_polled(std::vector<pollfd>* polled) const;
  // When serve() has something to do, whatever comes before.
  std::optional<Clock::time_point> deadline() const;
  void serve();

 private:
  class Transfer;
  std::unique_ptr<Transfer> transfer_;
};

// Keys and values, as the gateway has them.
std::string to_base64(std::string_view bytes);
// Nothing: it is none.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace tandem::etcd
