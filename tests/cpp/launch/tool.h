// Runs the real `tandem` as a child process, for tests.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace tandem::launch {

inline constexpr std::chrono::seconds kPatience{30};

// Asks `done` every few milliseconds; false when it never was true.
bool eventually(const std::function<bool()>& done, std::chrono::milliseconds patience = kPatience);

// Neither there nor a zombie that waits for its parent; a process whose main thread alone has ended is there.
bool is_gone(pid_t pid);

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string read_text(const std::string& path);
void write_text(const std::string& path, const std::string& text);

// A running tool. Its destructor kills it.
class Tool {
 public:
  enum class Screen { kPipes, kTerminal };
  // Starts `THROUGH… tandem ARGUMENTS…`. With kTerminal its output goes to a pseudo-terminal of 40 columns, and out()
  // has all. What it is started through has to become it (`sh -c 'exec "$@"' sh`).
  explicit Tool(const std::vector<std::string>& arguments, Screen screen = Screen::kPipes,
                const std::vector<std::string>& environment = {}, const std::vector<std::string>& through = {});
  ~Tool();
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

  pid_t pid() const { return pid_; }
  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }
  void send(int signal) const;
  // Reads until `text` was written to stdout.
  bool wait_for_output(const std::string& text);
  // Reads what is there by now.
  void look() { read_some(0); }
  void close_output();
  // Reads until the tool ends. The wait status in shell's terms: 128 + N after signal N; -1: it never ended.
  int wait();

 private:
  // Reads what is there; false when both ends are closed.
  bool read_some(int timeout_ms);

  pid_t pid_ = -1;
  int out_fd_ = -1;
  int err_fd_ = -1;
  std::string out_;
  std::string err_;
};

struct Result {
  int code;
  std::string out;
  std::string err;
};

// Runs `tandem ARGUMENTS…` to its end.
Result run_tool(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {});

// The lines of `text` that begin with `prefix`, without it.
std::vector<std::string> lines_of(const std::string& text, const std::string& prefix);

}  // namespace tandem::launch
