// Ranks as real processes of this test's own program, which find each other as a launcher's do and say, line by line, what
// happens to them.
#pragma once

#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/sockets.h"
#include "cpp/comm/child.h"
#include "cpp/comm/threads.h"

namespace tandem::testing {

using Clock = std::chrono::steady_clock;

// --- in a rank

inline void say(const std::string& line) {
  std::cout << line << std::endl;
}

inline ProcessGroupOptions from_environment() {
  ProcessGroupOptions options;
  const char* timeout = std::getenv("TEST_TIMEOUT_MS");
  if (const char* backend = std::getenv("TEST_BACKEND")) options.backend = backend;
  options.timeout = std::chrono::milliseconds(timeout ? std::atoi(timeout) : 30000);
  return options;
}

// "error CODE MILLISECONDS MESSAGE" of what `body` throws, the milliseconds since `since`.
inline void say_error(const std::function<void()>& body, const Clock::time_point* since = nullptr) {
  try {
    body();
    say("no error");
  } catch (const Error& error) {
    const auto spent = since ? std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - *since).count() : 0;
    say("error " + std::to_string(static_cast<int>(error.code())) + " " + std::to_string(spent) + " " + error.what());
  }
}

// --- in the test

using Environment = std::map<std::string, std::string>;

class Job {
 public:
  explicit Job(Environment environment = Environment()) : common_(std::move(environment)) {
    const net::Listener free = net::listen_on("127.0.0.1", 0);
    ::close(free.fd);
    port_ = free.endpoint.port;
  }

  std::unique_ptr<Child> start(const std::string& role, int rank, int size,
                               Environment environment = Environment()) const {
    return start(std::vector<std::string>{"--role", role}, rank, size, std::move(environment));
  }

  std::unique_ptr<Child> start(const std::vector<std::string>& arguments, int rank, int size,
                               Environment environment = Environment()) const {
    environment.insert(common_.begin(), common_.end());
    environment.insert({{"RANK", std::to_string(rank)},
                        {"WORLD_SIZE", std::to_string(size)},
                        {"MASTER_ADDR", "127.0.0.1"},
                        {"MASTER_PORT", std::to_string(port_)},
                        {"OMP_NUM_THREADS", "1"},
                        {"TORCHELASTIC_USE_AGENT_STORE", ""},
                        {"GLOO_SOCKET_IFNAME", ""}});
    return std::make_unique<Child>(arguments, environment);
  }

  std::uint16_t port() const { return port_; }

 private:
  Environment common_;
  std::uint16_t port_ = 0;
};

struct SaidError {
  int code = 0;
  int milliseconds = 0;
  std::string message;
};

inline SaidError parse_error(const std::string& line) {
  SaidError result;
  int used = 0;
  if (std::sscanf(line.c_str(), "error %d %d %n", &result.code, &result.milliseconds, &used) < 2) {
    ADD_FAILURE() << "no error but: " << line;
    return result;
  }
  result.message = line.substr(used);
  return result;
}

// A rank's line that reports an error of that code, with a message that `message` matches.
MATCHER_P2(IsError, code, message, "") {
  const SaidError said = parse_error(arg);
  return said.code == static_cast<int>(code) && ExplainMatchResult(message, said.message, result_listener);
}

}  // namespace tandem::testing
