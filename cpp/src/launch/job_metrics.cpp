#include "launch/job_metrics.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/host.h"
#include "base/printable.h"
#include "membership/socket.h"
#include "launch/supervised.h"
#include "metrics/job/exposition.h"
#include "metrics/job/job.h"
#include "metrics/job/progress.h"
#include "tandem/error.h"

namespace tandem::launch {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLookEvery{1000};
constexpr milliseconds kFreshFor{200};  // what is told to who asks
constexpr int kProgressStream = -3;
constexpr std::size_t kRanksInPart = 500;     // of a message to the agent that keeps the membership
constexpr std::size_t kMostRanksOfPart = 1000;  // that this one takes

std::chrono::steady_clock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

// What runs, for people: a script's name instead of its interpreter's.
std::string program_of(const LaunchOptions& options) {
  const auto name = [](const std::string& path) { return std::filesystem::path(path).filename().string(); };
  const std::string executable = name(options.executable);
  if (executable.starts_with("python")) {
    const auto script = std::find_if(options.arguments.begin() + !options.arguments.empty(), options.arguments.end(),
                                     [](const std::string& word) { return word.empty() || word.front() != '-'; });
    if (script != options.arguments.end()) return name(*script);
  }
  return executable;
}

std::vector<std::string> parts_of(const std::vector<metrics::Rank>& ranks) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < ranks.size(); at += kRanksInPart) {
    const std::size_t end = std::min(ranks.size(), at + kRanksInPart);
    parts.push_back(metrics::encode_ranks(
        {ranks.begin() + static_cast<std::ptrdiff_t>(at), ranks.begin() + static_cast<std::ptrdiff_t>(end)}));
  }
  if (parts.empty()) parts.push_back(metrics::encode_ranks({}));
  return parts;
}

}  // namespace

JobMetrics::JobMetrics(const LaunchOptions& options, const std::string& folder, Consoles& consoles)
    : options_(options),
      consoles_(consoles),
      began_(std::chrono::steady_clock::now()),
      progress_(options.progress ? *options.progress : consoles.err().terminal() ? 1 : 0),
      table_(printable(host_name())),
      next_line_(began_ + duration_of(progress_)) {
  about_.program = printable(program_of(options));
  about_.host = printable(host_name());
  about_.pid = getppid();  // the process that was started, of which this is the supervisor
  about_.run = options.run_id == "none" ? about_.program + "-" + std::to_string(about_.pid) : printable(options.run_id);
  about_.world_size = options.world_size();
  if (options.metrics_port) {
    endpoint_.emplace(options.metrics_addr, *options.metrics_port);
    consoles.say("metrics are at " + endpoint_->url());
  }
  if (!options.summary_dir.empty()) make_folder(options.summary_dir);
  // A file system for logs need not have sockets.
  for (const bool beside_logs : {true, false}) {
    std::error_code error;
    const auto path = beside_logs ? std::filesystem::absolute(folder, error)
                                  : std::filesystem::temp_directory_path(error) / "tandem_XXXXXX";
    std::string at = path.string();
    if (error || (!beside_logs && !mkdtemp(at.data()))) continue;
    if (!beside_logs) own_folder_ = at;
    try {
      pages_.emplace(membership::listen_at(at + "/metrics"));
      path_ = at + "/metrics";
      folder_ = open_file(at.c_str(), O_PATH | O_DIRECTORY);
      break;
    } catch (const Error&) {  // workers report to nobody, then
    }
  }
}

JobMetrics::~JobMetrics() {
  finish();
  if (!path_.empty()) unlink(path_.c_str());
  if (!own_folder_.empty()) rmdir(own_folder_.c_str());
}

void JobMetrics::start_again() {
  account_.reset();
  ended_.clear();
  table_.clear();
  if (pages_) pages_->forget_all();
  is_over_ = false;
  ++about_.restarts;
  about_.world_size = options_.world_size();
  about_.membership_epoch = 0;
}

void JobMetrics::started(membership::Member member, pid_t pid, int rank, bool replaces) {
  account_.reset();
  about_.restarts += replaces;
  table_.started(member, pid, rank);
}

void JobMetrics::told(membership::Member member, const membership::Message& message) {
  account_.reset();
  if (std::holds_alternative<membership::Released>(message)) table_.placed(member, -1);
  const auto* form = std::get_if<membership::Form>(&message);
  if (!form) return;
  table_.placed(member, form->rank);
  about_.world_size = static_cast<int>(form->committed.size());
  about_.membership_epoch = form->epoch;
}

void JobMetrics::add_polled(std::vector<pollfd>* polled) const {
  if (pages_) pages_->add_polled(polled);
  if (endpoint_) endpoint_->add_polled(polled);
}

// Nobody is woken for programs that report nothing.
std::optional<JobMetrics::Time> JobMetrics::deadline() const {
  std::optional<Time> next = endpoint_ ? endpoint_->deadline() : std::nullopt;
  if (const auto of_pages = pages_ ? pages_->deadline() : std::nullopt)
    next = std::min(next.value_or(*of_pages), *of_pages);
  if (is_reported()) next = std::min(next.value_or(next_look_), next_look_);
  return next;
}

// Of several agents one shows what all ranks report, or each what it knows.
bool JobMetrics::gathers(const membership::Membership& membership) const {
  return options_.meets ? membership.gathers() : options_.node_rank == 0;
}

double JobMetrics::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

metrics::Job JobMetrics::job(const membership::Membership& membership) {
  if (pages_) table_.look(*pages_, metrics::monotonic_now());
  metrics::Job now = about_;
  now.seconds = seconds();
  // The agent that keeps the membership need not have a rank, which would be told.
  if (const int world_size = membership.world_size(); world_size > 0) about_.world_size = now.world_size = world_size;
  about_.membership_epoch = now.membership_epoch = std::max(about_.membership_epoch, membership.epoch());
  if (std::exchange(ended_epoch_, now.membership_epoch) != now.membership_epoch) ended_.clear();  // others go on
  now.is_whole = options_.meets ? membership.gathers() : options_.nnodes == 1;
  now.ranks = table_.ranks();
  for (const auto& [host, part] : membership.reports()) {
    try {
      for (metrics::Rank& rank : metrics::decode_ranks(part, kMostRanksOfPart)) {
        rank.host = host;
        now.ranks.push_back(std::move(rank));
      }
    } catch (const Error&) {  // such a part is none
    }
  }
  if (now.is_whole) metrics::settle_ranks(now.ranks, now.world_size);
  metrics::sort_ranks(now.ranks);
  return now;
}

JobMetrics::Account& JobMetrics::account(const membership::Membership& membership) {
  const Time now = std::chrono::steady_clock::now();
  if (!account_ || now >= account_->at + kFreshFor) account_ = Account{now, job(membership), "", ""};
  return *account_;
}

const std::string& JobMetrics::json(const membership::Membership& membership) {
  Account& now = account(membership);
  if (now.json.empty()) now.json = metrics::encode_job(now.job);
  return now.json;
}

// Of an agent whose ranks another one has there are none here: else they would be counted twice.
const std::string& JobMetrics::exposition(const membership::Membership& membership) {
  Account& now = account(membership);
  if (!now.exposition.empty()) return now.exposition;
  metrics::Job shown = now.job;
  if (options_.meets && !shown.is_whole) shown.ranks.clear();
  return now.exposition = metrics::exposition(shown);
}

void JobMetrics::ended(membership::Member member) {
  account_.reset();
  // What it has reported last.
  const auto rank = pages_ ? table_.look_at(member, *pages_, metrics::monotonic_now()) : std::nullopt;
  if (rank && rank->rank >= 0) ended_.push_back(*rank);
  if (last_) last_->seconds = seconds();
  table_.ended(member);
  if (pages_) pages_->forget(member);
}

void JobMetrics::serve(Time now, membership::Membership& membership) {
  if (pages_) {
    pages_->serve({.knows = [this](std::int64_t worker) { return table_.has(worker); },
                   .job = [this, &membership] { return json(membership); }});
  }
  if (endpoint_)
    endpoint_->serve(now, [this, &membership](const std::string& path) { return answer(path, membership); });
  has_reported_ = has_reported_ || membership.has_reports();
  if (!is_reported() || now < next_look_) return;
  next_look_ = now + kLookEvery;
  const metrics::Job current = job(membership);
  has_reported_ = true;  // and says so when it has no rank left
  if (options_.meets && !current.is_whole) membership.report(parts_of(current.ranks));
  if (gathers(membership)) show(current, now);
}

std::optional<MetricsEndpoint::Answer> JobMetrics::answer(const std::string& path,
                                                          const membership::Membership& membership) {
  if (path == "/job") return MetricsEndpoint::Answer{"application/json", json(membership)};
  if (path != "/metrics") return std::nullopt;
  return MetricsEndpoint::Answer{metrics::kExpositionType, exposition(membership)};
}

// Training goes on without it.
void JobMetrics::log(const metrics::Job& job, Time now, bool is_last) {
  if (options_.summary_dir.empty() || cannot_log_) return;
  try {
    if (!summary_) summary_.emplace(options_.summary_dir);  // not of agents whose ranks another one has
    summary_->look(job, now, is_last);
  } catch (const Error& error) {
    cannot_log_ = true;
    consoles_.say(std::string("no more is written for TensorBoard: ") + error.what());
  }
}

void JobMetrics::show(const metrics::Job& job, Time now) {
  const std::string line = metrics::progress_line(job);
  if (line.empty()) return;
  last_ = job;
  log(job, now, /*is_last=*/false);
  if (progress_ == 0 || is_over_ || is_suspended_ || now < next_line_) return;
  Console& console = consoles_.err();
  if (console.pending() > 0 || !is_in_front()) return;  // nobody reads it
  next_line_ = now + duration_of(progress_);
  if (!console.terminal()) {
    consoles_.say(line);
  } else if (console.is_free_for(kProgressStream)) {  // else a worker has its own progress there
    console.unfinished(kProgressStream, "tandem: ", line);
  }
}

// Of a terminal's jobs the one that has it; what is no terminal, or another session's, is anybody's.
bool JobMetrics::is_in_front() const {
  const pid_t group = consoles_.err().terminal() ? tcgetpgrp(consoles_.err().fd()) : -1;
  return group < 0 || group == getpgid(static_cast<pid_t>(about_.pid));
}

void JobMetrics::suspend(bool suspended) {
  is_suspended_ = suspended;
  if (suspended && consoles_.err().terminal()) consoles_.err().unfinished(kProgressStream, "", "");
}

void JobMetrics::finish() {
  is_over_ = true;
  if (consoles_.err().terminal()) consoles_.err().unfinished(kProgressStream, "", "");
  auto last = std::exchange(last_, std::nullopt);
  if (last) {
    for (metrics::Rank& rank : std::exchange(ended_, {})) {
      std::erase_if(last->ranks, [&rank](const metrics::Rank& one) { return one.rank == rank.rank; });
      last->ranks.push_back(std::move(rank));
    }
  }
  if (last) log(*last, std::chrono::steady_clock::now(), /*is_last=*/true);
  if (last && progress_ > 0) consoles_.say(metrics::progress_line(*last));
}

}  // namespace tandem::launch
