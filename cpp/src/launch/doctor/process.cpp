#include "launch/doctor/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "launch/child_process.h"
#include "launch/failure.h"
#include "launch/process_tree.h"

namespace tandem::doctor {
namespace {

constexpr std::size_t kMostOutput = 4 << 20;
constexpr std::size_t kKeptOfStderr = 1 << 16;
constexpr int kReadsAtOnce = 64;  // who writes without a pause is not listened to for ever
constexpr std::chrono::milliseconds kToDie{2000}, kLook{10};
constexpr int kNoProgram = 127;

void forget_other_launches() {
  std::vector<std::string> names;
  for (char** one = environ; one && *one; ++one) {
    const std::string variable = *one;
    if (variable.starts_with("PET_")) names.push_back(variable.substr(0, variable.find('=')));
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

// Up to what there is now. False at its end.
bool read_some(int from, std::string* into) {
  char buffer[1 << 16];
  for (int reads = 0; reads < kReadsAtOnce;) {
    const ssize_t size = read(from, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return true;
    if (size <= 0) return false;
    into->append(buffer, static_cast<std::size_t>(size));
    ++reads;
  }
  return true;
}

[[noreturn]] void become_child(const std::vector<std::string>& command, const launch::Signals& signals, int in, int out,
                               int err, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kNoProgram);
  forget_other_launches();
  launch::become(command, signals, in, out, err, kNoProgram);
}

}  // namespace

std::chrono::milliseconds seconds_of(double seconds) {
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

void answer(const nlohmann::json& message) {
  // What is no UTF-8, as in a path, is replaced.
  std::printf("%s%s\n", kMarker, message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

// ------------------------------------------------------------------------------------------------------- Interruption

void Interruption::wait(std::vector<pollfd> polled, Clock::time_point until) {
  if (control_ >= 0) polled.push_back({control_, POLLIN, 0});
  wait_for_orders(polled, until);
  if (control_ >= 0 && polled.back().revents != 0) throw launch::Failure("whoever asked has ended", 128 + SIGTERM);
}

void Interruption::wait_for_orders(std::vector<pollfd>& polled, Clock::time_point until) {
  polled.insert(polled.begin(), {signal_fd_.get(), POLLIN, 0});
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  poll(polled.data(), polled.size(), static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left, 0, 60000)));
  polled.erase(polled.begin());
  for (const int signal : launch::Signals::read(signal_fd_.get())) {
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT) {
      throw launch::Failure("ended by " + launch::signal_name(signal), 128 + signal);
    }
    if (signal == SIGTSTP) kill(getpid(), SIGSTOP);
  }
}

// ------------------------------------------------------------------------------------------------------------ Process

Process::Process(const std::vector<std::string>& command, const launch::Signals& signals, bool has_input) {
  Descriptor nothing = open_file("/dev/null", O_RDONLY);
  Pipe in = launch::new_pipe(), out = launch::new_pipe(), err = launch::new_pipe();
  const pid_t self = getpid();
  pid_ = fork();
  if (pid_ < 0) throw launch::Failure(std::string("cannot fork: ") + std::strerror(errno));
  if (pid_ == 0)
    become_child(command, signals, has_input ? in.read.get() : nothing.get(), out.write.get(), err.write.get(), self);
  setpgid(pid_, pid_);
  if (has_input) in_ = std::move(in.write);
  out_fd_ = std::move(out.read);
  err_fd_ = std::move(err.read);
  for (const int fd : {in_.get(), out_fd_.get(), err_fd_.get()}) {
    if (fd >= 0) fcntl(fd, F_SETFL, O_NONBLOCK);
  }
}

Process::~Process() {
  stop();
}

int Process::code() const {
  return WIFSIGNALED(*status_) ? 128 + WTERMSIG(*status_) : WEXITSTATUS(*status_);
}

std::string Process::end() const {
  return WIFSIGNALED(*status_) ? "was killed by " + launch::signal_name(WTERMSIG(*status_))
                               : "exited with code " + std::to_string(WEXITSTATUS(*status_));
}

std::string Process::last_line_of_stderr() const {
  const std::size_t last = err_.find_last_not_of(" \r\n");
  if (last == std::string::npos) return "";
  const std::size_t before = err_.find_last_of("\r\n", last);
  return err_.substr(before == std::string::npos ? 0 : before + 1,
                     last - (before == std::string::npos ? 0 : before + 1) + 1);
}

std::optional<std::string> Process::next_answer() {
  for (std::size_t end = 0; (end = out_.find('\n', answered_)) != std::string::npos;) {
    const std::string line = out_.substr(answered_, end - answered_);
    answered_ = end + 1;
    // Behind what another wrote without a line's end, too.
    const std::size_t at = line.find(kMarker);
    if (at != std::string::npos) return line.substr(at + std::strlen(kMarker));
  }
  return std::nullopt;
}

void Process::send(const std::string& text) {
  unsent_ += text;
  serve();
}

void Process::close_input() {
  unsent_.clear();
  in_.reset();
}

void Process::add_polled(std::vector<pollfd>* polled) const {
  for (const Descriptor* one : {&out_fd_, &err_fd_}) {
    if (one->valid()) polled->push_back({one->get(), POLLIN, 0});
  }
  if (in_.valid() && !unsent_.empty()) polled->push_back({in_.get(), POLLOUT, 0});
}

void Process::take_output() {
  if (out_fd_.valid() && !read_some(out_fd_.get(), &out_)) out_fd_.reset();
  if (answered_ > out_.size() / 2) out_.erase(0, std::exchange(answered_, 0));
  if (out_.size() > kMostOutput) {
    said_too_much_ = true;
    out_.resize(kMostOutput);
  }
  if (err_fd_.valid() && !read_some(err_fd_.get(), &err_)) err_fd_.reset();
  if (err_.size() > kKeptOfStderr) err_.erase(0, err_.size() - kKeptOfStderr);
}

void Process::serve() {
  while (in_.valid() && !unsent_.empty()) {
    const ssize_t size = write(in_.get(), unsent_.data(), unsent_.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) break;
    if (size < 0) {
      close_input();
      break;
    }
    unsent_.erase(0, static_cast<std::size_t>(size));
  }
  int status = 0;
  const bool has_ended = !status_ && waitpid(pid_, &status, WNOHANG) == pid_;
  take_output();
  if (!has_ended) return;
  status_ = status;
  // What it left behind may hold the pipes for ever.
  out_fd_.reset();
  err_fd_.reset();
  close_input();
}

void Process::stop(std::chrono::seconds patience) {
  close_input();
  if (std::exchange(is_stopped_, true)) return;
  for (const auto& [signal, wait] :
       {std::pair<int, std::chrono::milliseconds>(SIGTERM, patience), {SIGKILL, kToDie}}) {
    if (status_) return;
    kill(-pid_, signal);
    kill(pid_, signal);
    for (const auto until = Clock::now() + wait; !status_ && Clock::now() < until; serve()) {
      std::this_thread::sleep_for(kLook);
    }
  }
}

Outcome run_program(const std::vector<std::string>& command, double seconds, Interruption& interruption,
                    std::chrono::seconds patience) {
  Process process(command, interruption.signals());
  const auto until = Clock::now() + seconds_of(seconds);
  process.serve();
  while (!process.ended() && !process.said_too_much() && Clock::now() < until) {
    std::vector<pollfd> polled;
    process.add_polled(&polled);
    interruption.wait(std::move(polled), until);
    process.serve();
  }
  Outcome outcome;
  outcome.has_ended = process.ended() || process.said_too_much();
  if (!process.ended()) process.stop(patience);
  outcome.code = process.ended() ? process.code() : 0;
  outcome.end = process.ended() ? process.end() : "cannot be ended";
  if (process.said_too_much()) {
    outcome.code = 1;
    outcome.end = "wrote more than " + std::to_string(kMostOutput >> 20) + " MiB";
  }
  while (const auto line = process.next_answer()) {
    nlohmann::json message = nlohmann::json::parse(*line, nullptr, /*allow_exceptions=*/false);
    if (message.is_object()) outcome.answers.push_back(std::move(message));
  }
  outcome.err = process.err();
  outcome.last_line_of_stderr = process.last_line_of_stderr();
  return outcome;
}

}  // namespace tandem::doctor
