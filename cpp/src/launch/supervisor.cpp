#include "launch/supervisor.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "base/descriptor.h"
#include "base/host.h"
#include "comm/parameter_memory.h"
#include "launch/agent_socket.h"
#include "launch/consoles.h"
#include "launch/environment.h"
#include "launch/error_file.h"
#include "launch/failure.h"
#include "launch/failure_report.h"
#include "launch/hung_workers.h"
#include "launch/job_metrics.h"
#include "launch/meeting.h"
#include "launch/process_tree.h"
#include "launch/supervised.h"
#include "launch/worker.h"
#include "launch/worker_stream.h"
#include "membership/membership.h"
#include "membership/stack_answer.h"
#include "metrics/page.h"

namespace tandem::launch {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kSweepEvery{10};
constexpr milliseconds kKillPatience{30000};
constexpr milliseconds kSameSignal{300};

class Supervisor {
 public:
  Supervisor(const LaunchOptions& options, membership::Membership& membership, const Signals& signals,
             Consoles& consoles, JobMetrics& metrics, int attempt, int replaced, const std::string& folder,
             Descriptor& lifeline, int master_port)
      : options_(options),
        membership_(membership),
        signals_(signals),
        consoles_(consoles),
        metrics_(metrics),
        attempt_(attempt),
        replaced_(replaced),
        folder_(folder),
        lifeline_(lifeline),
        master_port_(master_port),
        signal_fd_(signals.open()),
        out_(consoles.out),
        err_(consoles.err()) {
    make_folder(folder_);
    if (options_.shared_parameters) {
      try {
        parameters_ = make_parameter_memory();
      } catch (const Error& error) {
        throw Failure(error.what());
      }
    }
    if (!offers_membership()) return;
    socket_.emplace(folder_);
    if (socket_->why_not().empty()) return;
    consoles_.say("elastic programs do not find the launcher, and end with the first lost rank: " + socket_->why_not());
  }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Workers that were started again, of all attempts.
  int replaced() const { return replaced_; }

  void start() {
    for (int slot = 0; slot < options_.processes(); ++slot) start_one(slot);
  }

  int run() {
    while (!finished()) {
      wait();
      reap();
      if (Clock::now() >= deadline_) kill_now();
    }
    return exit_code_;
  }

  // Whether all workers are to start again: one failed, and nobody wants the launch to end.
  bool restarts() const {
    return !options_.meets && !options_.shared_parameters && has_restarts() && failure_ && !membership_.finished() &&
           !signalled_ && !abandoned_ && !out_.broken() && !err_.broken();
  }

 private:
  enum class Phase { kRunning, kStopping, kKilling, kDraining, kDone };

  // Without agents that meet the membership of ranks on several machines is nobody's.
  membership::AgentServer* server() { return socket_ && socket_->server() ? &*socket_->server() : nullptr; }
  bool offers_membership() const { return options_.nnodes == 1 || options_.meets; }
  bool has_restarts() const { return attempt_ + replaced_ < options_.max_restarts; }

  // `again`: how often that slot's worker was replaced before.
  void start_one(int slot, int again = 0) {
    const auto folder = folder_ + "/" + std::to_string(slot) + (again ? ".restart-" + std::to_string(again) : "");
    make_folder(folder);
    Worker worker;
    worker.slot = slot;
    worker.member = static_cast<membership::Member>(workers_.size());
    worker.ended.rank = options_.rank(slot);
    worker.folder = folder;
    worker.error_file = folder + "/error.json";
    auto variables = worker_variables(options_, attempt_ + again, slot, master_port_, worker.error_file);
    variables[membership::kAgentVariable] = server() ? server()->path() : "";
    variables[membership::kMemberVariable] = std::to_string(worker.member);
    variables[metrics::kMetricsVariable] = metrics_.path();
    variables[kSharedParametersVariable] = parameters_.valid() ? std::to_string(parameters_.get()) : "";
    variables[membership::kStacksVariable] = std::filesystem::absolute(worker.answers()).string();
    const auto environment = merged_environment(variables);
    const bool keeps_stdin = slot == 0 && !options_.is_agent && !isatty(STDIN_FILENO);
    const std::vector<int> cpus = options_.cpus.empty() ? std::vector<int>() : options_.cpus[slot];
    WorkerProcess process = start_worker(
        {options_.executable, options_.arguments, environment, keeps_stdin, cpus, parameters_.get()}, signals_);
    worker.ended.pid = process.pid;
    carry_output(worker, process, options_, consoles_, static_cast<int>(workers_.size()));
    membership_.started(worker.member, slot);
    const bool has_place = slot < options_.nproc_per_node && membership_.epoch() == 0;
    metrics_.started(worker.member, worker.ended.pid, has_place ? worker.ended.rank : -1, again > 0);
    workers_.push_back(std::move(worker));
    // The first worker shows whether the program runs at all, before there is a second.
    if (const int reason = wait_for_exec(process)) {
      throw Failure("cannot run " + options_.executable + ": " + std::strerror(reason) +
                        (reason == ENOEXEC ? " (a script needs a first line such as #!/bin/sh)" : ""),
                    reason == ENOENT ? 127 : 126);
    }
  }

  // ---------------------------------------------------------------------------------------------------- waiting

  void wait() {
    std::vector<pollfd> polled = {{signal_fd_.get(), POLLIN, 0}, {lifeline_.get(), POLLIN, 0}};
    std::vector<WorkerStream*> streams;
    for (Worker& worker : workers_) {
      for (WorkerStream* stream : {worker.out.get(), worker.err.get()}) {
        if (!stream->open() || stream->held_up()) continue;
        polled.push_back({stream->fd(), POLLIN, 0});
        streams.push_back(stream);
      }
    }
    for (Console* console : {&out_, &err_}) {
      if (console->pending() > 0) polled.push_back({console->fd(), POLLOUT, 0});
    }
    const std::size_t of_workers = polled.size();
    if (auto* server = this->server()) server->add_polled(&polled);
    membership_.add_polled(&polled);
    metrics_.add_polled(&polled);
    hung_.add_polled(&polled);
    poll(polled.data(), polled.size(), timeout());
    polled.resize(of_workers);

    bool read_any = false;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (polled[i + 2].revents) read_any |= streams[i]->read_some();
      if (const int reason = streams[i]->take_log_error()) {
        consoles_.say("a log in " + folder_ + " is cut off here: " + std::strerror(reason));
      }
    }
    for (Console* console : {&out_, &err_}) {
      console->write_some();
      if (console->broken() && phase_ == Phase::kRunning) {
        tell_other_nodes("nobody reads the launch's output any more", 128 + SIGPIPE);
        stop(SIGTERM, 128 + SIGPIPE);
      }
    }
    if (polled[1].revents) {  // the front process was killed
      lifeline_.reset();
      abandoned_ = true;
      kill_now();
    }
    for (const int signal : Signals::read(signal_fd_.get())) on_signal(signal);
    serve_workers();
    metrics_.serve(Clock::now(), membership_);
    if (phase_ == Phase::kDraining && !read_any && all_read(polled)) finish();
  }

  // Nobody holds a worker's pipe any more (or never will): what is not readable now never will be.
  bool all_read(const std::vector<pollfd>& polled) const {
    for (std::size_t i = 2; i < polled.size(); ++i) {
      if (polled[i].revents) return false;
    }
    return !out_.full() && !err_.full();
  }

  int timeout() const {
    if (phase_ == Phase::kDraining) {
      const bool has_room = restarts() && !out_.full() && !err_.full();  // then nobody waits for the reader
      return !has_room && (out_.pending() > 0 || err_.pending() > 0) ? -1 : 0;
    }
    if (phase_ == Phase::kKilling) return static_cast<int>(kSweepEvery.count());
    Clock::time_point next = std::min(deadline_, hung_.deadline().value_or(Clock::time_point::max()));
    next = std::min(next, metrics_.deadline().value_or(Clock::time_point::max()));
    if (!suspended_ || options_.meets) next = std::min(next, membership_.deadline().value_or(Clock::time_point::max()));
    for (const Worker& worker : workers_) {
      if (worker.running && worker.disconnected_at) next = std::min(next, given_up_at(worker, options_.grace));
    }
    if (next == Clock::time_point::max()) return -1;
    const auto left = std::chrono::ceil<milliseconds>(next - Clock::now());
    return static_cast<int>(std::max<milliseconds::rep>(left.count(), 0));
  }

  void on_signal(int signal) {
    if (signal == SIGCHLD) return;
    // While it is suspended nobody can give a sign of life.
    if (signal == SIGTSTP || signal == SIGCONT) metrics_.suspend(suspended_ = signal == SIGTSTP);
    if (std::ranges::find(options_.ending_signals, signal) == options_.ending_signals.end()) {
      signal_groups(workers_, signal == SIGTSTP ? SIGSTOP : signal);
      return;
    }
    if (phase_ >= Phase::kDraining && !signalled_ && options_.meets && !membership_.may_end(Clock::now())) {
      exit_code_ = 128 + signal;  // others train still
      tell_other_nodes("the launch was ended by " + signal_name(signal), exit_code_);
      abandoned_ |= options_.elects;  // another agent keeps the membership for them
    } else if (phase_ >= Phase::kDraining) {  // what the reader of the output did not take is lost
      abandoned_ = true;
    } else if (signalled_) {
      // One that went to all processes of the launch comes here twice, from its sender and through the front process.
      if (signal != first_signal_ || Clock::now() - signalled_at_ > kSameSignal) kill_now();
      return;
    } else if (phase_ == Phase::kRunning) {
      consoles_.say("stopping all ranks: " + signal_name(signal));
      tell_other_nodes("the launch was ended by " + signal_name(signal), 128 + signal);
      stop(signal, 128 + signal);
    }
    signalled_ = true;
    first_signal_ = signal;
    signalled_at_ = Clock::now();
  }

  // ------------------------------------------------------------------------------------- workers that come and go

  void serve_workers() {
    if (server()) serve_connections();
    membership_.serve(Clock::now(), suspended_);
    coordinate();
    for (const std::string& text : hung_.serve(Clock::now())) consoles_.say(text);
  }

  // `why`, as in "rank 1 (pid 4711) gives no sign of life".
  void kill_hung(const Worker& worker, const std::string& why) {
    hung_.end(worker.ended.pid, why, worker.answers(), worker.folder + "/stacks.log", options_.keeps_logs());
  }

  void serve_connections() {
    server()->serve({
        .knows =
            [this](membership::Member member) {
              if (member < 0 || static_cast<std::size_t>(member) >= workers_.size()) return false;
              Worker& worker = workers_[static_cast<std::size_t>(member)];
              return worker.running && !std::exchange(worker.has_connected, true);
            },
        .received =
            [this](membership::Member member, const membership::Message& message) {
              if (!std::exchange(is_elastic_, true)) {
                for (const Worker& worker : workers_) {  // who ended before anybody knew
                  if (worker.running) continue;
                  membership_.lost(worker.member, worker.ended.name() + " " + worker.ended.end(), Clock::now());
                }
              }
              workers_[static_cast<std::size_t>(member)].asked_to_leave |=
                  std::holds_alternative<membership::Leave>(message);
              membership_.received(member, message, Clock::now());
            },
        .ended =
            [this](membership::Member member, const std::string& reason) {
              Worker& worker = workers_[static_cast<std::size_t>(member)];
              worker.disconnected_at = Clock::now();
              worker.disconnected = worker.ended.name() + " " + reason;
            },
    });
    for (Worker& worker : workers_) {
      if (!worker.running || !worker.disconnected_at || Clock::now() < given_up_at(worker, options_.grace)) continue;
      if (membership_.is_done(worker.member) || membership_.finished()) {
        worker.disconnected_at.reset();
      } else if (!worker.is_given_up) {
        worker.is_given_up = true;
        membership_.disconnected(worker.member, worker.disconnected, Clock::now());
      } else {
        worker.disconnected_at.reset();
        kill_hung(worker, worker.disconnected + " and has not ended since");
      }
    }
  }

  // Does what the coordinator says.
  void coordinate() {
    if (phase_ != Phase::kRunning) {
      const auto messages = membership_.take_messages();
      if (server()) server()->send_at_end(messages);
      for (const membership::Event& event : membership_.take_events()) {
        if (event.kind == membership::Event::Kind::kStop) take_failure(event);
      }
      return;
    }
    for (const auto& [member, message] : membership_.take_messages()) {
      if (server()) server()->send(member, message);
      metrics_.told(member, message);
    }
    for (const membership::Event& event : membership_.take_events()) {
      switch (event.kind) {
        case membership::Event::Kind::kFormed:
          if (membership_.epoch() > 1) {
            const std::string& progress = membership_.progress();
            consoles_.say("now " + event.text + (progress.empty() ? "" : ", " + progress) + " (membership epoch " +
                          std::to_string(membership_.epoch()) + ")");
          }
          break;
        case membership::Event::Kind::kHung: {
          if (event.member < 0 || static_cast<std::size_t>(event.member) >= workers_.size()) break;
          const Worker& worker = workers_[static_cast<std::size_t>(event.member)];
          if (worker.running && !suspended_) kill_hung(worker, worker.ended.name() + " " + event.text);
          break;
        }
        case membership::Event::Kind::kSlow:
          if (event.member < 0 || static_cast<std::size_t>(event.member) >= workers_.size()) break;
          consoles_.say(workers_[static_cast<std::size_t>(event.member)].ended.name() + " " + event.text);
          break;
        case membership::Event::Kind::kTooFew:
          for (Worker& worker : workers_) {
            if (worker.running || !worker.ended.failed() || std::exchange(failure_, true)) continue;
            tell_other_nodes(worker);
          }
          consoles_.say(event.text + (running() > 0 ? "; stopping them" : ""));
          stop(SIGTERM, 1);
          break;
        case membership::Event::Kind::kFinished:
          if (running() == 0) stop(SIGTERM, 0);  // it waited for what becomes of the job
          break;
        case membership::Event::Kind::kSaid:
          consoles_.say(event.text);
          break;
        case membership::Event::Kind::kStop:
          take_failure(event);
          consoles_.say("stopping all ranks: the job has failed elsewhere");
          stop(SIGTERM, event.exit_code);
          break;
      }
    }
  }

  // Of another node, which is said last, and whose exit code is this one's too.
  void take_failure(const membership::Event& event) {
    if (failure_ || signalled_ || !failed_elsewhere_.empty()) return;
    failed_elsewhere_ = event.text;
    exit_code_ = event.exit_code;
    if (phase_ == Phase::kDone) metrics_.finish();
    if (phase_ == Phase::kDone) consoles_.say(failed_elsewhere_);
  }

  // Whether other nodes' workers may make the program one that goes on without some.
  bool is_elastic() const { return is_elastic_ || (options_.meets && membership_.is_elastic()); }
  // All workers here were lost, but those of other nodes may finish the job.
  bool waits_for_others() const {
    const bool is_over = phase_ != Phase::kRunning || membership_.finished();
    if (is_over || running() > 0 || !options_.meets || !is_elastic()) return false;
    return std::ranges::none_of(workers_, [this](const Worker& one) { return membership_.is_done(one.member); });
  }

  // A worker that ended before its training did. Whether the others go on.
  bool go_on_without(Worker& worker) {
    const std::string reason = worker.ended.name() + " " + worker.ended.end();
    // Before there is anything to go on with, a worker that fails is most likely a program that does.
    if (membership_.epoch() == 0 && !has_restarts()) return false;
    const membership::Member lost = worker.member;
    replace_or_leave(lost, reason);
    membership_.lost(lost, reason, Clock::now());
    coordinate();
    return true;
  }

  // Whether another one has its place.
  bool replace_or_leave(membership::Member lost, const std::string& reason) {
    const bool replaces = has_restarts();
    consoles_.say(reason + (replaces ? "; another one takes its place" : "; the others go on without it"));
    if (!replaces) return false;
    ++replaced_;
    Worker& worker = workers_[static_cast<std::size_t>(lost)];
    const auto in_slot = [slot = worker.slot](const Worker& one) { return one.slot == slot; };
    worker.replaced = true;
    try {
      start_one(worker.slot, static_cast<int>(std::ranges::count_if(workers_, in_slot)));  // moves `worker`
      return true;
    } catch (const Failure& failure) {
      workers_[static_cast<std::size_t>(lost)].replaced = false;
      consoles_.say(std::string("it cannot be started: ") + failure.what());
      return false;
    }
  }

  // ----------------------------------------------------------------------------------------------------- ending

  void stop(int signal, int exit_code) {
    if (phase_ != Phase::kRunning) return;
    phase_ = Phase::kStopping;
    exit_code_ = exit_code;
    deadline_ =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.grace));
    signal_all(workers_, signal);
    signal_all(workers_, SIGCONT);  // a stopped process must wake to take the signal
  }

  void kill_now() {
    if (phase_ >= Phase::kDraining) return;
    if (phase_ != Phase::kKilling) {
      if (phase_ == Phase::kRunning) exit_code_ = 128 + SIGKILL;
      phase_ = Phase::kKilling;
      give_up_ = Clock::now() + kKillPatience;
    }
    deadline_ = Clock::now() + kSweepEvery;
    signal_all(workers_, SIGKILL);
  }

  void reap() {
    for (;;) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, WNOHANG);
      if (pid < 0 && errno == ECHILD) {
        if (waits_for_others()) return;
        if (phase_ < Phase::kDraining) phase_ = Phase::kDraining;
        deadline_ = Clock::time_point::max();
        return;
      }
      if (pid <= 0) break;
      hung_.ended(pid);
      const auto worker = std::ranges::find_if(workers_, [pid](const Worker& one) { return one.runs_as(pid); });
      if (worker != workers_.end()) on_end(*worker, status);
    }
    if (phase_ == Phase::kRunning && running() == 0 && !waits_for_others()) {
      stop(SIGTERM, 0);  // the workers left processes behind
    }
    if (phase_ == Phase::kKilling && Clock::now() > give_up_) {
      consoles_.say("a process does not die from SIGKILL (see ps for state D); leaving it");
      phase_ = Phase::kDraining;
    }
  }

  int running() const {
    int count = 0;
    for (const Worker& worker : workers_) count += worker.running;
    return count;
  }

  void on_end(Worker& worker, int status) {
    worker.running = false;
    metrics_.ended(worker.member);
    worker.ended.status = status;
    worker.ended.ended_at = now_seconds();
    worker.ended.ended_by_itself = phase_ == Phase::kRunning;
    // Whatever its program is: other nodes' workers may have yet to say that it is elastic.
    if ((phase_ != Phase::kRunning || !is_elastic()) && options_.meets && !membership_.is_done(worker.member)) {
      membership_.lost(worker.member, worker.ended.name() + " " + worker.ended.end(), Clock::now());
    }
    if (phase_ == Phase::kRunning && is_elastic()) {
      serve_workers();  // what it said last
      if (phase_ != Phase::kRunning) return;
      if (membership_.has_left(worker.member)) {
        if (worker.ended.failed()) consoles_.say(worker.ended.name() + ", which had left, " + worker.ended.end());
        return;
      }
      if (membership_.is_done(worker.member)) {  // the others may train still
        failure_ |= worker.ended.failed() && !worker.has_obeyed();
        return;
      }
      if (membership_.finished() && membership_.epoch() > 0) {  // the world that finished was one without it
        if (worker.ended.failed()) {
          consoles_.say(worker.ended.name() + " " + worker.ended.end() + "; the others have finished without it");
        }
        return;
      }
      if (!membership_.finished() && go_on_without(worker)) return;
      membership_.lost(worker.member, worker.ended.name() + " " + worker.ended.end(), Clock::now());
      coordinate();
    }
    if (!worker.ended.failed() || phase_ != Phase::kRunning) return;
    // The parameters are with the others. What is not made good is the launch's failure, once they have ended.
    if (options_.shared_parameters && (running() > 0 || has_restarts())) {
      failure_ |= !replace_or_leave(worker.member, worker.ended.name() + " " + worker.ended.end());
      return;
    }
    failure_ = true;
    if (running() > 0) consoles_.say(worker.ended.name() + " " + worker.ended.end() + "; stopping the other ranks");
    tell_other_nodes(worker);
    stop(SIGTERM, worker.ended.exit_code());
  }

  // This agent ends, and the job with it: it keeps the membership, or the program knows of none.
  void tell_other_nodes(const std::string& why, int exit_code) {
    if (!options_.meets || (!membership_.keeps() && is_elastic())) return;
    membership_.fail(why + " on " + host_name(), exit_code, Clock::now());
  }
  // Why the job failed, with what is known by now, for each node to show.
  void tell_other_nodes(Worker& worker) {
    if (!options_.meets) return;
    worker.err->read_some();
    EndedWorker ended = worker.ended;
    ended.report = read_error_file(worker.error_file);
    ended.last_lines = worker.err->last_lines();
    membership_.fail(describe_failures({ended}, ended, /*is_alone=*/false), ended.exit_code(), Clock::now());
  }

  void finish() {
    phase_ = Phase::kDone;
    std::vector<EndedWorker> ended;
    for (Worker& worker : workers_) {
      worker.out->close();
      worker.err->close();
      if (worker.replaced) continue;
      ended.push_back(worker.ended);
      if (!failure_) continue;
      ended.back().report = read_error_file(worker.error_file);
      ended.back().last_lines = worker.err->last_lines();
    }
    if (exit_code_ != 0 || failure_ || !options_.meets) metrics_.finish();  // else other nodes may train on
    const EndedWorker* first = failure_ ? first_failure(ended) : nullptr;
    if (first) {
      const bool is_alone = ended.size() == 1 && options_.nnodes == 1 && options_.output[0].shows_err;
      consoles_.say(describe_failures(ended, *first, is_alone));
      const bool was_stopped = WIFSIGNALED(first->status) && !first->ended_by_itself;  // has no code of its own
      exit_code_ = was_stopped ? 1 : first->exit_code();
    }
    if (!failed_elsewhere_.empty()) consoles_.say(failed_elsewhere_);
    out_.finish();
    err_.finish();
  }

  bool finished() {
    if (phase_ < Phase::kDraining) return false;
    if (abandoned_) return true;
    if (phase_ != Phase::kDone) return false;
    out_.write_some();
    err_.write_some();
    if (restarts()) return true;
    if (out_.pending() > 0 || err_.pending() > 0 || !membership_.may_end(Clock::now())) return false;
    metrics_.finish();
    return err_.pending() == 0;
  }

  const LaunchOptions& options_;
  membership::Membership& membership_;
  const Signals& signals_;
  Consoles& consoles_;
  JobMetrics& metrics_;
  int attempt_;
  int replaced_;
  std::string folder_;
  Descriptor& lifeline_;
  int master_port_;
  Descriptor signal_fd_;
  Console& out_;
  Console& err_;
  Descriptor parameters_;  // memory for those that workers share
  std::optional<AgentSocket> socket_;
  std::vector<Worker> workers_;  // by member
  bool is_elastic_ = false;      // a worker has connected
  HungWorkers hung_;
  Phase phase_ = Phase::kRunning;
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point give_up_ = Clock::time_point::max();
  int exit_code_ = 0;
  bool failure_ = false;
  std::string failed_elsewhere_;  // why the job failed on another node
  bool suspended_ = false;
  bool signalled_ = false;
  int first_signal_ = 0;
  Clock::time_point signalled_at_;
  bool abandoned_ = false;
};

}  // namespace

int supervise(const LaunchOptions& asked, const Signals& signals, const PortReservation* port,
              const std::string& run_folder, Descriptor lifeline) {
  LaunchOptions options = asked;
  std::unique_ptr<membership::Membership> membership;
  if (options.meets) membership = meet_nodes(options, port->port(), signals, lifeline);
  Consoles consoles;  // what the reader has not taken at an attempt's end is written in the next
  std::optional<JobMetrics> metrics;
  try {
    metrics.emplace(options, run_folder, consoles);
  } catch (const std::exception& error) {
    if (options.meets) say_farewell(*membership, error);
    throw;
  }
  int replaced = 0;
  for (int attempt = 0;; ++attempt) {
    if (attempt > 0) metrics->start_again();
    if (!options.meets) membership = membership_alone(options);
    Supervisor supervisor(options, *membership, signals, consoles, *metrics, attempt, replaced,
                          run_folder + "/attempt_" + std::to_string(attempt), lifeline,
                          port && !options.meets ? port->port() : options.master_port);
    try {
      supervisor.start();
    } catch (const Failure& failure) {
      consoles.flush();
      if (options.meets) say_farewell(*membership, failure);
      throw;
    }
    if (const int code = supervisor.run(); !supervisor.restarts()) return code;
    replaced = supervisor.replaced();
    consoles.say("starting all ranks again (restart " + std::to_string(attempt + 1) + " of " +
                 std::to_string(options.max_restarts) + ")");
  }
}

}  // namespace tandem::launch
