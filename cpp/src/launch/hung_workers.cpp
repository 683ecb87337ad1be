#include "launch/hung_workers.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "launch/thread_stacks.h"

namespace tandem::launch {
namespace {

constexpr std::chrono::seconds kAskerPatience{6};
constexpr std::chrono::seconds kRuntimePatience{2};
constexpr char kPrintsOwn = '+', kPrintsNothing = '-';

[[noreturn]] void become_asker(pid_t pid, pid_t parent, const std::string& answers, const std::string& log, int pipe) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  // What unwound from here would clean up after the supervisor that this was.
  ThreadStacks stacks;
  try {
    stacks = read_thread_stacks(pid, answers);
  } catch (...) {
    _exit(1);
  }
  const Descriptor file = open_file(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file.valid()) write_all(file.get(), stacks.text.data(), stacks.text.size());
  const bool is_short = stacks.short_text != stacks.text;
  const std::string told =
      std::string(1, stacks.prints_own ? kPrintsOwn : kPrintsNothing) + (is_short ? "1" : "0") + stacks.short_text;
  write_all(pipe, told.data(), told.size());
  _exit(0);
}

}  // namespace

void HungWorkers::start_asker(Hung& hung, const std::string& answers) {
  std::optional<Pipe> pipe = make_pipe();
  if (!pipe || fcntl(pipe->read.get(), F_SETFL, O_NONBLOCK) != 0) return;
  const pid_t parent = getpid();
  hung.asker = fork();
  if (hung.asker == 0) become_asker(hung.pid, parent, answers, hung.log, pipe->write.get());
  if (hung.asker > 0) hung.pipe = std::move(pipe->read);
}

void HungWorkers::end(pid_t pid, const std::string& said, const std::string& answers, const std::string& log,
                      bool keeps_log) {
  if (std::ranges::any_of(all_, [pid](const Hung& hung) { return hung.pid == pid && !hung.has_ended; })) return;
  Hung hung;
  hung.pid = pid;
  hung.said = said;
  hung.log = log;
  hung.keeps_log = keeps_log;
  hung.deadline = Clock::now() + kAskerPatience;
  start_asker(hung, answers);
  if (hung.asker < 0) hung.deadline = Clock::now();
  all_.push_back(std::move(hung));
}

void HungWorkers::ended(pid_t pid) {
  for (Hung& hung : all_) {
    if (hung.pid == pid) hung.has_ended = true;
    if (hung.asker == pid) hung.asker = -1;
  }
}

void HungWorkers::add_polled(std::vector<pollfd>* polled) const {
  for (const Hung& hung : all_) {
    if (hung.pipe.valid()) polled->push_back({hung.pipe.get(), POLLIN, 0});
  }
}

std::optional<HungWorkers::Clock::time_point> HungWorkers::deadline() const {
  std::optional<Clock::time_point> next;
  for (const Hung& hung : all_) {
    if (!next || hung.deadline < *next) next = hung.deadline;
  }
  return next;
}

bool HungWorkers::read_some(Hung& hung) {
  if (!hung.pipe.valid()) return hung.asker < 0;
  char bytes[4096];
  for (;;) {
    const ssize_t count = read(hung.pipe.get(), bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno != EAGAIN;
    if (count == 0) return true;
    hung.got.append(bytes, static_cast<std::size_t>(count));
  }
}

std::vector<std::string> HungWorkers::serve(Clock::time_point now) {
  std::vector<std::string> says;
  for (auto hung = all_.begin(); hung != all_.end();) {
    if (!hung->has_said) {
      if (!read_some(*hung) && now < hung->deadline) {
        ++hung;
        continue;
      }
      hung->pipe.reset();
      if (hung->asker > 0) kill(hung->asker, SIGKILL);  // nothing, where it has ended
      hung->has_said = true;
      std::string text = hung->said + (hung->has_ended ? "." : "; it is killed.");
      const bool prints_own = !hung->got.empty() && hung->got[0] == kPrintsOwn && !hung->has_ended;
      if (hung->got.size() <= 2) {
        text += " What its threads did cannot be found out: /proc gives no answer";
      } else {
        text += " What its threads did:\n" + hung->got.substr(2);
        if (hung->got[1] == '1' && hung->keeps_log) text += "all of it is in " + hung->log + "\n";
        if (prints_own) text += "what its runtime knows follows, in its own output\n";
      }
      says.push_back(std::move(text));
      if (prints_own) {
        kill(hung->pid, SIGQUIT);
        hung->deadline = now + kRuntimePatience;
        ++hung;
        continue;
      }
    } else if (now < hung->deadline && !hung->has_ended) {
      ++hung;
      continue;
    }
    if (!hung->has_ended) kill(-hung->pid, SIGKILL);
    hung = all_.erase(hung);
  }
  return says;
}

}  // namespace tandem::launch
