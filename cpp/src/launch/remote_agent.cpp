#include "launch/remote_agent.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "launch/agent_control.h"
#include "launch/child_process.h"
#include "launch/failure.h"

namespace tandem::launch {
namespace {

constexpr int kOfSsh = 255, kOfShells = 126, kNotThere = 127;
constexpr const char* kOwnLine = "tandem: ";  // with which an agent begins what it says itself

}  // namespace

std::string why_agent_failed(const std::string& host, bool here, int code, const std::string& line,
                             const std::string& tool) {
  const std::string said = line.empty() ? "" : ": " + line;
  if (here)
    return "the agent of " + host + ", which is this machine, has ended with code " + std::to_string(code) + said;
  if (code == kOfSsh) {
    return "ssh to " + host + " failed" + said + "; `ssh " + host +
           " true` has to succeed without a question (a key, a known host)";
  }
  if (code == kNotThere || code == kOfShells) {
    return host + " cannot run " + tool + said +
           "; install Tandem there at the same path, or say by --remote-tandem where it is";
  }
  return "the agent of " + host + " has ended with code " + std::to_string(code) + said;
}

RemoteAgent::RemoteAgent(int number, std::string host, bool here, const std::vector<std::string>& command,
                         std::string setup, const Signals& signals, Consoles& consoles)
    : host_(std::move(host)), here_(here), unsent_(std::move(setup)) {
  Pipe in = new_pipe(), out = new_pipe(), err = new_pipe();
  pid_ = fork();
  if (pid_ < 0) throw Failure(std::string("cannot fork: ") + std::strerror(errno));
  if (pid_ == 0) become(command, signals, in.read.get(), out.write.get(), err.write.get(), kOfSsh);
  setpgid(pid_, pid_);
  control_ = std::move(in.write);
  fcntl(control_.get(), F_SETFL, O_NONBLOCK);
  // Lines have their ranks before them already.
  out_ = std::make_unique<WorkerStream>(2 * number, std::move(out.read), Descriptor(), "", &consoles.out);
  err_ = std::make_unique<WorkerStream>(2 * number + 1, std::move(err.read), Descriptor(), "", &consoles.err());
  err_->await_end(kEndOfAgent);
}

RemoteAgent::~RemoteAgent() {
  if (!running()) return;
  end();  // where not all agents could be started
}

bool RemoteAgent::is_lost() const {
  if (running() || err_->has_end()) return false;  // its code may be that of a worker that a signal ended
  for (const int signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP}) {
    if (code() == 128 + signal) return true;
  }
  return code() == kOfSsh;
}

bool RemoteAgent::speaks_for_itself() const {
  const bool may_be_of_others = code() >= kOfShells;  // of ssh, of a shell, or of a signal
  if (!may_be_of_others) return true;
  const std::vector<std::string> lines = err_->last_lines();
  return !lines.empty() && lines.back().starts_with(kOwnLine);
}

std::string RemoteAgent::why_it_failed(const std::string& tool) const {
  const std::vector<std::string> lines = err_->last_lines();
  return why_agent_failed(host_, here_, code(), lines.empty() ? "" : lines.back(), tool);
}

void RemoteAgent::send(int signal) {
  if (!running() || !control_.valid()) return;
  unsent_ += line_for_agents(signal);
  write_some();
}

void RemoteAgent::let_go() {
  control_.reset();
}

void RemoteAgent::end() {
  let_go();
  if (running()) kill(-pid_, SIGTERM);  // a program in front of ssh, too
}

void RemoteAgent::kill_now() {
  let_go();
  if (running()) kill(-pid_, SIGKILL);
}

void RemoteAgent::write_some() {
  while (control_.valid() && !unsent_.empty()) {
    const ssize_t count = write(control_.get(), unsent_.data(), unsent_.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0) return let_go();  // it has ended, which its code says
    unsent_.erase(0, static_cast<std::size_t>(count));
  }
}

void RemoteAgent::add_polled(std::vector<pollfd>* polled) const {
  for (const WorkerStream* stream : {out_.get(), err_.get()}) {
    if (stream->open() && !stream->held_up()) polled->push_back({stream->fd(), POLLIN, 0});
  }
  if (control_.valid() && !unsent_.empty()) polled->push_back({control_.get(), POLLOUT, 0});
}

void RemoteAgent::serve() {
  write_some();
  for (WorkerStream* stream : {out_.get(), err_.get()}) {
    bool has_more = true;
    while (has_more && stream->open() && !stream->held_up()) has_more = stream->read_some();
    // What is left behind (a connection that ssh shares with later ones) may hold the pipe for ever.
    if (!has_more && !running()) stream->close();
  }
}

bool RemoteAgent::take_end(pid_t pid, int status) {
  if (pid != pid_ || !running()) return false;
  code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  let_go();
  return true;
}

}  // namespace tandem::launch
