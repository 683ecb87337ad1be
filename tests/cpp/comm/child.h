// Real processes for tests: this test's own program started again with other arguments, its output line by line.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

namespace tandem::testing {

class Child {
 public:
  using Clock = std::chrono::steady_clock;

  // `environment` is added to this process's. Descriptors that are not close-on-exec are inherited.
  Child(std::vector<std::string> arguments, const std::map<std::string, std::string>& environment) {
    arguments.insert(arguments.begin(), "/proc/self/exe");
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::vector<std::string> variables;
    for (char** entry = environ; *entry; ++entry) {
      const std::string name(*entry, std::strcspn(*entry, "="));
      if (!environment.count(name)) variables.emplace_back(*entry);
    }
    for (const auto& [name, value] : environment) {
      if (!value.empty()) variables.push_back(name + "=" + value);
    }
    std::vector<char*> envp;
    for (auto& variable : variables) envp.push_back(variable.data());
    envp.push_back(nullptr);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const int failure = posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, argv.data(), envp.data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    output_ = ends[0];
    if (failure != 0) throw std::runtime_error("posix_spawn");
  }
  ~Child() {
    if (!status_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(output_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // The next line of output; fails the test when none comes in time.
  std::string line(std::chrono::seconds timeout = std::chrono::seconds(60)) {
    const auto deadline = Clock::now() + timeout;
    for (;;) {
      const auto end = buffer_.find('\n');
      if (end != std::string::npos) {
        const std::string found = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return found;
      }
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      pollfd ready{output_, POLLIN, 0};
      char chunk[4096];
      const bool readable = left > 0 && poll(&ready, 1, static_cast<int>(left)) == 1;
      const ssize_t size = readable ? read(output_, chunk, sizeof chunk) : 0;
      if (size <= 0) {
        ADD_FAILURE() << "process " << pid_ << (readable ? " closed its output" : " wrote no line in time") << ": "
                      << buffer_;
        return "";
      }
      buffer_.append(chunk, static_cast<std::size_t>(size));
    }
  }

  pid_t pid() const { return pid_; }
  void signal(int number) { kill(pid_, number); }
  // SIGSTOP, which takes a moment: waits until none of its threads runs.
  void stop() {
    signal(SIGSTOP);
    siginfo_t stopped{};
    if (waitid(P_PID, static_cast<id_t>(pid_), &stopped, WSTOPPED | WNOWAIT) != 0 || stopped.si_code != CLD_STOPPED) {
      ADD_FAILURE() << "process " << pid_ << " does not stop";
    }
  }

  // Exit code, or minus the signal that ended it. Fails the test when it does not end in time.
  int wait(std::chrono::seconds timeout = std::chrono::seconds(60)) {
    const auto deadline = Clock::now() + timeout;
    while (!status_) {
      int status = 0;
      const pid_t ended = waitpid(pid_, &status, WNOHANG);
      if (ended == pid_) {
        status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
      } else if (Clock::now() > deadline) {
        ADD_FAILURE() << "process " << pid_ << " does not end";
        return -1000;
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    }
    return *status_;
  }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  std::string buffer_;
  std::optional<int> status_;
};

}  // namespace tandem::testing
