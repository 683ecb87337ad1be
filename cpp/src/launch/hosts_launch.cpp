#include "launch/hosts_launch.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launch/agent_setup.h"
#include "launch/consoles.h"
#include "launch/ending_signals.h"
#include "launch/failure.h"
#include "launch/host_discovery.h"
#include "launch/remote_agent.h"
#include "launch/remote_shell.h"
#include "launch/signals.h"

namespace tandem::launch {
namespace {

using Clock = std::chrono::steady_clock;

// For the agents that are left to hear from each other how the job has failed, before they are told to end.
constexpr std::chrono::seconds kForReports{3};
// For agents to end once they are told, beside the ranks' grace; then for ssh.
constexpr std::chrono::seconds kForAgents{10};
// After a failure a host that is found again gets no agent for so long.
constexpr std::chrono::seconds kNotAgain{60};
constexpr int kMostRounds = 4;  // of signals to agents that do not end

class HostsLaunch {
 public:
  HostsLaunch(HostsPlan plan, std::vector<std::string> flags, std::vector<std::string> command,
              const std::vector<int>& ending, double grace)
      : plan_(std::move(plan)),
        flags_(std::move(flags)),
        command_(std::move(command)),
        folder_(working_folder()),
        ending_(ending),
        grace_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(grace))),
        signal_fd_(signals_.open()) {
    if (!plan_.discovery.empty()) discovery_.emplace(plan_.discovery, signals_);
    start_all();
  }

  int run() {
    while (!finished()) {
      wait();
      reap();
      if (Clock::now() >= deadline_) on_deadline();
    }
    if (!cause_.empty()) consoles_.say(cause_);
    consoles_.out.finish();
    consoles_.err().finish();
    consoles_.flush();
    // Agents that were told of a signal end well.
    return ending_.first() ? 128 + ending_.first() : code_ != 0 ? code_ : code_of_ended_;
  }

 private:
  enum class Phase { kRunning, kFailed, kTold, kLetGo };

  void start_all() {
    for (std::size_t node = 0; node < plan_.hosts.size(); ++node) start(plan_.hosts[node], static_cast<int>(node));
  }

  void start(const Host& host, int node) {
    AgentSetup setup{host.login, folder_, plan_.exports, {"run"}};
    for (const auto& words : {agent_flags(plan_, host, node), flags_, {"--"}, command_}) {
      setup.arguments.insert(setup.arguments.end(), words.begin(), words.end());
    }
    const bool here = is_here(host);
    const std::vector<std::string> started = here ? std::vector<std::string>{"/proc/self/exe", "run", kAgentSetupFlag}
                                                  : ssh_command(plan_.ssh, host.login, plan_.remote_tool);
    agents_.push_back(std::make_unique<RemoteAgent>(static_cast<int>(agents_.size()), host.login, here, started,
                                                    encode(setup), signals_, consoles_));
  }

  // ---------------------------------------------------------------------------------------- hosts that are found later

  void discover() {
    discovery_->serve(Clock::now());
    if (const std::string error = discovery_->take_error(); !error.empty()) {
      if (plan_.hosts.empty()) throw Failure(error);
      consoles_.say(error);
    }
    std::optional<std::vector<Host>> found = discovery_->take_hosts();
    if (!found || phase_ != Phase::kRunning) return;
    if (!plan_.hosts.empty()) return add(*found);
    if (found->size() >= static_cast<std::size_t>(plan_.least)) {
      settle(plan_, std::move(*found));
      try {
        start_all();
      } catch (const Failure& failure) {
        code_ = failure.exit_code();
        cause_ = failure.what();
        tell_all_to_end(SIGTERM);
      }
    } else if (!std::exchange(waits_, true)) {
      consoles_.say("waiting for hosts: of " + std::to_string(plan_.least) + " there are " +
                    std::to_string(found->size()));
    }
  }

  void add(const std::vector<Host>& found) {
    const auto now = Clock::now();
    std::erase_if(failed_at_, [&](const auto& one) { return now - one.second >= kNotAgain; });
    auto running = std::ranges::count_if(agents_, [](const auto& one) { return one->running(); });
    for (const Host& host : found) {
      const auto is_of_host = [&](const auto& one) {
        return one->host() == host.login && (one->running() || one->code() == 0);
      };
      if (running >= plan_.most || std::ranges::any_of(agents_, is_of_host) || failed_at_.contains(host.login))
        continue;
      consoles_.say(host.login + " is there, and gets an agent");
      try {
        start(host, -1);
        ++running;
      } catch (const Failure& failure) {  // the others go on
        consoles_.say(failure.what());
        failed_at_[host.login] = now;
      }
    }
  }

  bool all_ended() const {
    if (discovery_ && plan_.hosts.empty()) return ending_.first() != 0;  // it has not begun
    return std::ranges::none_of(agents_, [](const auto& one) { return one->running(); });
  }

  bool finished() {
    if (!all_ended() && rounds_ < kMostRounds) return false;  // one that no signal ends is left
    for (auto& agent : agents_) agent->serve();
    return (consoles_.out.pending() == 0 && consoles_.own_err.pending() == 0) || is_cut_off_;
  }

  void wait() {
    std::vector<pollfd> polled = {{signal_fd_.get(), POLLIN, 0}};
    for (const auto& agent : agents_) agent->add_polled(&polled);
    if (discovery_) discovery_->add_polled(&polled);
    for (const Console* console : {&consoles_.out, &consoles_.own_err}) {
      if (console->pending() > 0) polled.push_back({console->fd(), POLLOUT, 0});
    }
    poll(polled.data(), polled.size(), timeout());
    for (auto& agent : agents_) agent->serve();
    if (discovery_) discover();
    for (Console* console : {&consoles_.out, &consoles_.own_err}) console->write_some();
    if (consoles_.out.broken() && phase_ == Phase::kRunning) {
      code_ = 128 + SIGPIPE;
      tell_all_to_end(SIGTERM);
    }
    for (const int signal : Signals::read(signal_fd_.get())) on_signal(signal);
  }

  int timeout() const {
    const auto next = discovery_ ? std::min(deadline_, discovery_->deadline()) : deadline_;
    if (next == Clock::time_point::max()) return -1;
    if (next == Clock::time_point::min()) return 0;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
  }

  void on_signal(int signal) {
    const EndingSignals::Meaning meaning = ending_.on(signal, Clock::now());
    if (meaning == EndingSignals::Meaning::kNone) return;
    if (meaning == EndingSignals::Meaning::kEnds) {
      tell_all_to_end(signal);
      return;
    }
    for (auto& agent : agents_) agent->send(signal);
    if (signal == SIGTSTP) kill(getpid(), SIGSTOP);
    if (meaning == EndingSignals::Meaning::kEndsNow) {
      is_cut_off_ = true;
      phase_ = Phase::kTold;
      deadline_ = Clock::now() + kForAgents;
    }
  }

  void tell_all_to_end(int signal) {
    phase_ = Phase::kTold;
    for (auto& agent : agents_) agent->send(signal);
    deadline_ = Clock::now() + grace_ + kForAgents;
  }

  void on_deadline() {
    deadline_ = Clock::now() + kForAgents;
    switch (phase_) {
      case Phase::kRunning:
        break;
      case Phase::kFailed:
        tell_all_to_end(SIGTERM);
        break;
      case Phase::kTold:
        phase_ = Phase::kLetGo;
        for (auto& agent : agents_) agent->let_go();
        break;
      case Phase::kLetGo:
        for (auto& agent : agents_) rounds_ == 0 ? agent->end() : agent->kill_now();
        ++rounds_;
        break;
    }
  }

  void reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (discovery_ && discovery_->take_end(pid, status)) discover();
      for (auto& agent : agents_) {
        if (!agent->take_end(pid, status)) continue;
        agent->serve();  // its last words
        if (agent->code() != 0) {
          on_failure(*agent);
        } else if (discovery_ && agent == agents_.front() && phase_ == Phase::kRunning) {
          phase_ = Phase::kFailed;  // the job is over; who has only just come is not
          is_done_ = true;
          deadline_ = Clock::now() + kForReports;
        }
        break;
      }
    }
  }

  void on_failure(const RemoteAgent& agent) {
    const std::string why = agent.speaks_for_itself() ? "" : agent.why_it_failed(plan_.remote_tool);
    const auto is_well = [](const auto& one) { return one->running() || one->code() == 0; };
    const bool others_do = phase_ == Phase::kRunning && std::ranges::count_if(agents_, is_well) >= plan_.least &&
                           !(discovery_ && &agent == agents_.front().get());
    // Whichever of them is noticed last: with the others, training goes on or has come to its end.
    const bool is_done_without = others_do && agent.is_lost();
    const bool go_on = (others_do && !all_ended()) || is_done_without;
    const bool counts = why.empty() && !is_done_without;
    if (counts && code_of_ended_ == 0) code_of_ended_ = agent.code();
    if (is_done_) return;
    failed_at_[agent.host()] = Clock::now();
    if (go_on) {
      const char* others = all_ended() ? "; the others have ended well" : "; the others go on without it";
      if (!why.empty()) consoles_.say(why + others);
      return;
    }
    if (phase_ != Phase::kRunning) {
      if (cause_.empty() && code_ == 0 && ending_.first() == 0) code_ = agent.code();
      return;
    }
    code_ = agent.code();
    cause_ = why;
    if (all_ended()) return;
    if (!why.empty()) {
      consoles_.say(agent.host() + " takes no part; ending the others");
      tell_all_to_end(SIGTERM);
      return;
    }
    phase_ = Phase::kFailed;
    deadline_ = Clock::now() + kForReports;
  }

  HostsPlan plan_;
  const std::vector<std::string> flags_, command_;
  const std::string folder_;
  Signals signals_;
  EndingSignals ending_;
  const Clock::duration grace_;
  Descriptor signal_fd_;
  Consoles consoles_;
  std::optional<HostDiscovery> discovery_;
  bool waits_ = false;  // and has said so
  std::vector<std::unique_ptr<RemoteAgent>> agents_;
  std::map<std::string, Clock::time_point> failed_at_;  // hosts
  bool is_done_ = false;  // the first agent of hosts that are found has ended well, and so has the job
  Phase phase_ = Phase::kRunning;
  Clock::time_point deadline_ = Clock::time_point::max();
  int code_ = 0;
  int rounds_ = 0;
  int code_of_ended_ = 0;    // of the first that failed once its training was over: the others did not care
  std::string cause_;        // of the job's end, to be said last
  bool is_cut_off_ = false;  // what the reader of the output did not take is lost
};

}  // namespace

int launch_on_hosts(HostsPlan plan, const std::vector<std::string>& flags, const std::vector<std::string>& command,
                    const std::vector<int>& ending, double grace) {
  return HostsLaunch(std::move(plan), flags, command, ending, grace).run();
}

}  // namespace tandem::launch
