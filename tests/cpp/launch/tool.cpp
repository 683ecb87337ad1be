#include "cpp/launch/tool.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace tandem::launch {

using Clock = std::chrono::steady_clock;

bool eventually(const std::function<bool()>& done, std::chrono::milliseconds patience) {
  for (const auto end = Clock::now() + patience; Clock::now() < end;) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return done();
}

bool is_gone(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/task";
  std::error_code ended;  // threads may go while this looks
  for (std::filesystem::directory_iterator thread(folder, ended), end; !ended && thread != end;
       thread.increment(ended)) {
    const std::string stat = read_text(thread->path() / "stat");
    const std::size_t name_end = stat.rfind(')');
    if (name_end != std::string::npos && stat[name_end + 2] != 'Z' && stat[name_end + 2] != 'X') return false;
  }
  return true;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "tandem-launch-test-XXXXXX";
  if (!mkdtemp(pattern.data())) std::abort();
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::filesystem::remove_all(path_);
}

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

Tool::Tool(const std::vector<std::string>& arguments, Screen screen, const std::vector<std::string>& environment,
           const std::vector<std::string>& through) {
  int out[2];
  int err[2] = {-1, -1};
  if (screen == Screen::kTerminal) {
    winsize size{};
    size.ws_row = 24;
    size.ws_col = 40;
    if (openpty(&out[0], &out[1], nullptr, nullptr, &size) != 0) std::abort();
    fcntl(out[0], F_SETFD, FD_CLOEXEC);
    fcntl(out[1], F_SETFD, FD_CLOEXEC);
  } else if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
    std::abort();
  }
  std::vector<char*> argv;
  for (const std::string& argument : through) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(const_cast<char*>(TANDEM_TOOL));
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(screen == Screen::kTerminal ? out[1] : err[1], STDERR_FILENO);
    for (const std::string& setting : environment) putenv(const_cast<char*>(setting.c_str()));
    execvp(argv.front(), argv.data());
    _exit(99);
  }
  close(out[1]);
  if (err[1] >= 0) close(err[1]);
  out_fd_ = out[0];
  err_fd_ = err[0];
}

Tool::~Tool() {
  close_output();
  if (err_fd_ >= 0) close(err_fd_);
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Tool::send(int signal) const {
  kill(pid_, signal);
}

void Tool::close_output() {
  if (out_fd_ >= 0) close(out_fd_);
  out_fd_ = -1;
}

bool Tool::read_some(int timeout_ms) {
  pollfd polled[] = {{out_fd_, POLLIN, 0}, {err_fd_, POLLIN, 0}};
  poll(polled, 2, timeout_ms);
  int* fds[] = {&out_fd_, &err_fd_};
  std::string* texts[] = {&out_, &err_};
  for (int i = 0; i < 2; ++i) {
    if (*fds[i] < 0 || !polled[i].revents) continue;
    char buffer[1 << 16];
    const ssize_t count = read(*fds[i], buffer, sizeof buffer);
    if (count > 0) {
      texts[i]->append(buffer, static_cast<std::size_t>(count));
    } else {
      close(*fds[i]);  // a terminal's end is EIO
      *fds[i] = -1;
    }
  }
  return out_fd_ >= 0 || err_fd_ >= 0;
}

bool Tool::wait_for_output(const std::string& text) {
  const auto end = Clock::now() + kPatience;
  while (out_.find(text) == std::string::npos) {
    if (Clock::now() > end || !read_some(50)) return out_.find(text) != std::string::npos;
  }
  return true;
}

int Tool::wait() {
  int status = 0;
  const auto end = Clock::now() + kPatience;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (Clock::now() > end) return -1;
    read_some(5);
  }
  pid_ = -1;
  while (read_some(0)) {
    pollfd polled[] = {{out_fd_, POLLIN, 0}, {err_fd_, POLLIN, 0}};
    if (poll(polled, 2, 0) <= 0) break;  // a process that was left behind holds the pipe: a test looks for those
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Result run_tool(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  Tool tool(arguments, Tool::Screen::kPipes, environment);
  const int code = tool.wait();
  return {code, tool.out(), tool.err()};
}

std::vector<std::string> lines_of(const std::string& text, const std::string& prefix) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, prefix.size(), prefix) == 0) found.push_back(line.substr(prefix.size()));
  }
  return found;
}

}  // namespace tandem::launch
