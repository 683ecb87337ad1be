// A real etcd on this machine, for tests.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "comm/sockets.h"
#include "cpp/launch/tool.h"
#include "etcd/client.h"

namespace tandem::elastic {

inline bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " > /dev/null").c_str()) == 0;
}

// Its data is in memory where there is a folder for that.
class EtcdServer {
 public:
  explicit EtcdServer(std::vector<std::string> more = {}, std::string protocol = "http")
      : protocol_(std::move(protocol)), more_(std::move(more)) {
    char name[] = "/dev/shm/etcd-XXXXXX";
    if (const char* made = mkdtemp(name)) data_ = made;
    client_port_ = free_port();
    peer_port_ = free_port();
    start();
  }
  ~EtcdServer() {
    kill();
    if (!data_.empty()) std::system(("rm -rf '" + data_ + "'").c_str());
  }
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;

  std::string endpoint() const { return "127.0.0.1:" + std::to_string(client_port_); }
  std::string url() const { return protocol_ + "://" + endpoint(); }

  void start() {
    const std::string peer = "http://127.0.0.1:" + std::to_string(peer_port_);
    std::vector<std::string> words = {"etcd", "--name", "one", "--data-dir", (data_.empty() ? folder_.path() : data_) + "/data",
                                      "--unsafe-no-fsync", "--listen-client-urls", url(), "--advertise-client-urls", url(),
                                      "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                                      "--initial-cluster", "one=" + peer, "--log-level", "error"};
    words.insert(words.end(), more_.begin(), more_.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string log = folder_.path() + "/log";
    pid_ = fork();
    if (pid_ == 0) {
      const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      dup2(fd, 1);
      dup2(fd, 2);
      execvp(arguments[0], arguments.data());
      _exit(127);
    }
    EXPECT_TRUE(launch::eventually([&] { return !net::is_refused({"127.0.0.1", client_port_}); })) << launch::read_text(log);
  }

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(std::exchange(pid_, -1), nullptr, 0);
  }

  // What it says to a request; null: it does not answer.
  nlohmann::json ask(const std::string& path, const nlohmann::json& body) const {
    etcd::ClientOptions options;
    options.servers = {url()};
    etcd::Client client(options);
    nlohmann::json said;
    client.call(path, body, [&](etcd::Reply reply) {
      if (reply.content) said = *reply.content;
    });
    for (int i = 0; client.is_busy() && i < 2000; ++i) {
      client.serve();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return said;
  }

  // The value of a key; nothing: it is not there.
  std::optional<std::string> get(const std::string& key) const {
    const nlohmann::json said = ask("/v3/kv/range", {{"key", etcd::to_base64(key)}});
    if (!said.contains("kvs")) return std::nullopt;
    return etcd::from_base64(said["kvs"][0].value("value", ""));
  }

 private:
  static std::uint16_t free_port() {
    const net::Listener free = net::listen_on("127.0.0.1", 0);
    ::close(free.fd);
    return free.endpoint.port;
  }

  launch::TemporaryFolder folder_;
  std::string data_;
  std::string protocol_;
  std::vector<std::string> more_;
  std::uint16_t client_port_ = 0;
  std::uint16_t peer_port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace tandem::elastic
