#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "base/invalid.h"
#include "base/mix.h"
#include "comm/store/store_limit.h"
#include "checkpoint/manifest.h"
#include "elastic/session/commits.h"
#include "elastic/session/parameter_check.h"
#include "elastic/session/saves.h"
#include "membership/agent_client.h"
#include "metrics/reporter.h"
#include "tandem/elastic.h"
#include "tandem/launch_place.h"
#include "tandem/runtime.h"
#include "tandem/store.h"

namespace tandem::elastic {
namespace {

using membership::AgentClient;
using std::chrono::milliseconds;

constexpr milliseconds kMeeting{60000};      // of an epoch's ranks, once all of them are known
constexpr milliseconds kAgentPatience{3000};  // until it knows of a failure that this rank saw
constexpr milliseconds kMoment{1000};         // the same, of one that may have shown here first
constexpr int kMostAttempts = 5;              // to connect ranks of which none was lost
constexpr int kMostFruitless = 20;            // epochs in a row without a commit that counts

Options checked(Options options) {
  if (options.commit_every < 1) {
    invalid("commit_every is " + std::to_string(options.commit_every) + "; it is a number of steps, 1 or more");
  }
  if (options.checkpoint_every < 0 || options.checkpoint_every % options.commit_every != 0) {
    invalid("checkpoint_every is " + std::to_string(options.checkpoint_every) + ", which is no multiple of commit_every (" +
            std::to_string(options.commit_every) + "): what is written is a commit");
  }
  if (options.check_every < 0 || options.check_every % options.commit_every != 0) {
    invalid("check_every is " + std::to_string(options.check_every) + ", which is no multiple of commit_every (" +
            std::to_string(options.commit_every) + "): what is compared is what is committed");
  }
  if (options.checkpoint_every > 0 && options.checkpoints.empty()) {
    invalid("checkpoint_every is set, but no folder for checkpoints");
  }
  return options;
}

// Of what a lost rank causes, whoever meets it first.
bool is_of_a_peer(const Error& error) {
  return error.code() == ErrorCode::kPeerLost || error.code() == ErrorCode::kTimeout ||
         error.code() == ErrorCode::kAborted;
}

void check_content(const CheckpointContent& content) {
  for (const auto& [section, own] : content.own) {
    for (const OwnTensor& each : own) {
      if (each.whole.empty()) continue;
      throw Error(ErrorCode::kUnsupported,
                  "'" + each.name + "' of '" + section +
                      "' is a rank's part of a tensor, as of ZeRO's optimizer: it would be lost with its rank. An elastic "
                      "training needs state that all ranks have; one that is sharded goes on from checkpoints alone");
    }
  }
}

}  // namespace

struct Session::Parts {
  explicit Parts(Options given) : options(checked(std::move(given))), agent(AgentClient::from_environment()) {}

  bool meet();
  bool meet_alone();
  bool has_ended() {
    const std::lock_guard<std::mutex> lock(mutex);
    return ended;
  }
  bool is_aborted() {
    const std::lock_guard<std::mutex> lock(mutex);
    return aborted;
  }
  void connect(const membership::Form& form, const std::shared_ptr<StoreInterrupt>& interrupt);
  void share(const std::vector<std::int64_t>& committed);
  std::shared_ptr<ProcessGroup> of_cpu() const;
  void adopt(std::shared_ptr<ProcessGroup> made);
  std::shared_ptr<ProcessGroup> take_group();
  void close_group();
  void drop_group();
  void start_step();
  void check_parameters(const CheckpointContent& content);

  const Options options;
  const std::unique_ptr<AgentClient> agent;
  std::int64_t epoch = 0;
  std::int64_t steps = 0;
  std::int64_t fruitless_at = -1;
  bool has_content = false;  // some commit, perhaps only what training begins with
  bool committed = false;    // one that counts
  bool stops_next = false;   // step() said so
  bool stops = false;        // and commit() came
  std::string failure;       // why the last epoch ended for this rank
  std::string put_out;       // who has other parameters than this rank and most others
  bool is_wrong = false;     // this rank has, or nobody can say
  int fruitless = 0;
  Commits commits;
  Checkpoint as_checkpoint;
  Store store;
  Saves saves{options};

  std::mutex mutex;  // of what the agent's thread uses
  std::shared_ptr<ProcessGroup> group;
  bool ended = false;
  bool aborted = false;
};

Session::Session(Options options) : parts_(std::make_unique<Parts>(std::move(options))) {
  if (!parts_->agent) return;
  parts_->agent->tell_waiting([parts = parts_.get()] {
    std::shared_ptr<ProcessGroup> now;
    {
      const std::lock_guard<std::mutex> lock(parts->mutex);
      now = parts->group;
    }
    return now && now->is_busy();
  });
}

Session::~Session() {
  if (parts_->agent) {
    parts_->agent->on_interrupt(nullptr);
    parts_->agent->tell_waiting(nullptr);
  }
}

// -------------------------------------------------------------------------------------------------------- commits

void Session::commit(const CheckpointContent& content) {
  Parts& parts = *parts_;
  check_content(content);
  checkpoint::check_values(content.values);
  parts.saves.write(parts.commits);
  parts.check_parameters(content);
  parts.commits.take(content, parts.steps, [&parts] {
    const auto failure = parts.group ? parts.group->failure() : std::nullopt;
    if (failure) throw *failure;
  });
  parts.has_content = true;
  if (!parts.group) return;
  parts.stops = parts.stops_next;
  parts.committed = true;
  parts.saves.committed(parts.steps);
}

// Before the commit, so that none has what is wrong.
void Session::Parts::check_parameters(const CheckpointContent& content) {
  if (options.check_every == 0 || !group || group->size() == 1 || steps == 0 || steps % options.check_every != 0) return;
  const ParameterHashes hashes(content);
  // A GPU's are read by now: only then it is known what became of the collectives that they come from.
  if (const auto failure = group->failure()) throw *failure;
  const auto difference = hashes.compare(group->all_gather_bytes(hashes.encode()));
  if (!difference) return;
  const std::string what = "after step " + std::to_string(steps) + " " + difference->text;
  is_wrong = std::ranges::find(difference->wrong, group->rank()) != difference->wrong.end();
  if (!is_wrong) {
    put_out = what;
    throw Error(ErrorCode::kDataLoss, what + (agent ? "; they go on without it" : "; the training ends"));
  }
  throw Error(ErrorCode::kDataLoss, what + (difference->has_majority
                                                ? "; this process is one that computes wrongly, or whose memory does not keep what it is given, "
                                                  "unless the program changes parameters on some ranks only, and ends"
                                                : "; the training ends"));
}

const Checkpoint& Session::committed() const {
  Parts& parts = *parts_;
  const Commit& last = parts.commits.last();
  Checkpoint& result = parts.as_checkpoint;
  result.step = last.step;
  result.world_size = parts.group ? parts.group->size() : 1;
  result.values = last.content.values;
  result.sections = last.content.replicated;
  for (const auto& [section, own] : last.content.own) {
    for (const OwnTensor& each : own) result.sections[section].emplace_back(each.name, each.tensor);
  }
  return result;
}

// ---------------------------------------------------------------------------------------------------------- epochs

bool Session::meet() { return parts_->meet(); }

bool Session::Parts::meet() {
  put_out.clear();
  if (!has_content) invalid("an elastic session needs a commit() of what training begins with before it can meet()");
  if (!agent) return meet_alone();
  std::string reason = failure.empty() ? "its training was ended" : failure;
  if (stops && !has_ended()) {
    try {
      close_group();
      reason.clear();
    } catch (const Error& error) {  // a rank was lost while a checkpoint was written
      if (!is_of_a_peer(error) || is_aborted()) throw;
      reason = error.what();
    }
  }
  if (!reason.empty()) drop_group();
  const std::int64_t before = committed ? commits.last().step : -1;
  fruitless = before > fruitless_at ? 0 : fruitless + 1;
  fruitless_at = std::max(before, fruitless_at);
  if (fruitless > kMostFruitless) {
    throw Error(ErrorCode::kAborted, std::to_string(fruitless) + " membership epochs in a row ended before there was a commit; " +
                                         "the last one because of: " + reason);
  }
  for (int attempt = 1;; ++attempt) {
    stops = stops_next = false;
    failure.clear();
    const auto form = agent->join({epoch, committed ? commits.last().step : -1, reason});
    saves.forget_dropped();
    if (!form) return false;
    epoch = form->epoch;
    const auto interrupt = std::make_shared<StoreInterrupt>();
    const StoreLimit limit(interrupt);  // of the store's calls that connecting and sharing make
    try {
      connect(*form, interrupt);
      share(form->committed);
      agent->begin_at(steps);
      start_step();
      return true;
    } catch (const Error& error) {
      drop_group();
      if (is_aborted() || !is_of_a_peer(error) || (attempt >= kMostAttempts && !agent->interrupted())) throw;
      if (agent->interrupted()) attempt = 0;
      reason = error.what();
    }
  }
}

bool Session::Parts::meet_alone() {
  if (epoch > 0) {
    throw Error(ErrorCode::kUnsupported,
                "ranks can meet again only under `tandem run`, whose agent keeps account of them: " +
                    (failure.empty() ? std::string("this training has ended") : failure));
  }
  epoch = 1;
  ProcessGroupOptions wanted = options.group;
  wanted.abort_subgroups = true;
  std::shared_ptr<ProcessGroup> made;
  if (!launch_place().launcher.empty()) {
    made = ProcessGroup::create(wanted);
    store = made->native()->getStore();
  } else {
    wanted.rank = 0;
    wanted.world_size = 1;
    store = hash_store();
    made = ProcessGroup::create(wanted, store);
  }
  adopt(std::move(made));
  share(std::vector<std::int64_t>(static_cast<std::size_t>(group->size()), -1));
  start_step();
  return true;
}

void Session::Parts::connect(const membership::Form& form, const std::shared_ptr<StoreInterrupt>& interrupt) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    ended = false;
  }
  agent->on_interrupt([this, interrupt] {
    interrupt->interrupt();
    std::shared_ptr<ProcessGroup> now;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      ended = true;
      now = group;
    }
    if (now) now->abort();
  });
  const StoreLimit limit(StoreLimit::Clock::now() + kMeeting);
  // The one before ends when the others have left it, which they do when they know of this one.
  const Store before = std::exchange(store, Store());
  const std::string host = form.host.empty() ? "127.0.0.1" : form.host;
  if (form.serves) {
    store = tcp_store(host, 0, {.is_server = true, .timeout = kMeeting});
    agent->serve(form.epoch, host, store_port(store));
  } else {
    store = tcp_store(host, static_cast<std::uint16_t>(form.port), {.timeout = kMeeting});
  }
  ProcessGroupOptions wanted = options.group;
  wanted.rank = form.rank;
  wanted.world_size = static_cast<int>(form.committed.size());
  wanted.abort_subgroups = true;
  adopt(ProcessGroup::create(wanted, prefix_store("elastic/" + std::to_string(form.epoch), store)));
}

// As the epoch's group, which may be over by now.
void Session::Parts::adopt(std::shared_ptr<ProcessGroup> made) {
  bool aborts = false;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    group = made;
    aborts = ended || aborted;
  }
  if (aborts) made->abort();
}

std::shared_ptr<ProcessGroup> Session::Parts::take_group() {
  if (agent) agent->on_interrupt(nullptr);
  const std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(group, nullptr);
}

void Session::Parts::share(const std::vector<std::int64_t>& steps_of) {
  const std::int64_t newest = *std::max_element(steps_of.begin(), steps_of.end());
  std::vector<int> holders;
  for (std::size_t rank = 0; rank < steps_of.size(); ++rank) {
    if (steps_of[rank] == newest && (newest >= 0 || rank == 0)) holders.push_back(static_cast<int>(rank));
  }
  const bool resumed = newest < 0 && saves.resume(group, commits, epoch);
  const bool holds = std::binary_search(holders.begin(), holders.end(), group->rank());
  if (!resumed && holders.size() < steps_of.size()) {
    const auto exchange = of_cpu();
    if (holds) {
      checkpoint::Staging unused;
      transfer(*exchange, holders, unused, commits.last());
    } else {
      commits.replace([&](checkpoint::Staging& staging, const Commit& last) {
        return transfer(*exchange, holders, staging, last);
      });
    }
  }
  steps = commits.last().step;
  commits.forget_steps();
  committed = true;
  saves.begin(group, [this, of = epoch] { return agent ? agent->why_not(of) : ""; }, steps, resumed);
}

// A group whose ranks exchange what lies in memory: NCCL's do not.
std::shared_ptr<ProcessGroup> Session::Parts::of_cpu() const {
  const std::string& backend = group->backend();
  if (!options.group.device.is_cuda() || backend.find("cpu:") != std::string::npos || backend == "gloo") return group;
  ProcessGroupOptions wanted = options.group;
  wanted.backend = "gloo";
  wanted.device = c10::kCPU;
  wanted.name = group->name() + "/state";
  wanted.rank = group->rank();
  wanted.world_size = group->size();
  const auto made = ProcessGroup::create(wanted, prefix_store("elastic/" + std::to_string(epoch) + "/state", store));
  group->abort_with_this(made);
  return made;
}

// Once training stopped in order.
void Session::Parts::close_group() {
  saves.close(commits);
  const auto last = take_group();
  if (last) last->close();
}

void Session::Parts::drop_group() {
  const auto last = take_group();
  if (last) last->abort();
  saves.drop();
}

const std::shared_ptr<ProcessGroup>& Session::group() const {
  if (!parts_->group) throw Error(ErrorCode::kClosed, "this process is in no membership epoch: meet() begins one");
  return parts_->group;
}
std::int64_t Session::epoch() const { return parts_->epoch; }
std::int64_t Session::steps() const { return parts_->steps; }

// ------------------------------------------------------------------------------------------------------------ steps

void Session::Parts::start_step() {
  if (!options.seed) return;
  const std::uint64_t seed = mix(mix(*options.seed, static_cast<std::uint64_t>(steps)), static_cast<std::uint64_t>(group->rank()));
  std::vector<at::Device> devices = {c10::kCPU};
  if (options.group.device.is_cuda()) devices.push_back(options.group.device);
  for (const at::Device device : devices) {
    at::Generator generator = at::globalContext().defaultGenerator(device);
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_current_seed(seed);
  }
}

Session::Next Session::step() {
  Parts& parts = *parts_;
  group();
  parts.saves.look();
  parts.saves.write(parts.commits);
  ++parts.steps;
  metrics::Reporter::of_process().step(parts.steps);
  Next next = Next::kGoOn;
  if (parts.agent) {
    switch (parts.agent->completed(parts.steps)) {
      case AgentClient::Next::kGoOn:
        break;
      case AgentClient::Next::kStop:
        next = Next::kStop;
        parts.stops_next = true;
        break;
      case AgentClient::Next::kLeave:
        next = Next::kLeave;
        parts.stops_next = true;
        break;
      case AgentClient::Next::kInterrupted:
        throw Error(ErrorCode::kAborted, "the membership epoch has ended: " + parts.agent->interrupted().value_or(""));
    }
  }
  parts.start_step();
  if (next == Next::kGoOn && parts.steps % parts.options.commit_every == 0) next = Next::kCommit;
  return next;
}

bool Session::has_ended() {
  Parts& parts = *parts_;
  if (!parts.agent || !parts.group || parts.is_aborted() || parts.is_wrong || parts.saves.has_failed()) return false;
  if (!parts.put_out.empty()) {
    parts.failure = std::exchange(parts.put_out, "");
    return true;
  }
  if (parts.stops) return true;
  auto reason = parts.group->failure();
  // What the program itself has closed or aborted has not failed, and other failures than of peers would come again.
  if (reason && (reason->code() == ErrorCode::kAborted || !is_of_a_peer(*reason))) reason.reset();
  const auto said = parts.agent->wait_for_interrupt(reason ? kAgentPatience : kMoment);
  if (!reason && !said) return false;
  parts.failure = reason ? reason->what() : *said;
  return true;
}

void Session::done() {
  parts_->saves.finish(parts_->commits);
  if (parts_->agent) parts_->agent->done();
}

void Session::leave() {
  if (parts_->agent) parts_->agent->leave();
}

void Session::left() {
  try {
    parts_->close_group();
  } catch (const Error& error) {
    if (parts_->agent) parts_->agent->bye();
    if (!is_of_a_peer(error)) throw;
    return;
  }
  if (parts_->agent) parts_->agent->bye();
}

bool Session::has_left() const { return parts_->agent && parts_->agent->released(); }

void Session::abort() {
  Parts& parts = *parts_;
  if (parts.agent) parts.agent->abort();
  std::shared_ptr<ProcessGroup> now;
  {
    const std::lock_guard<std::mutex> lock(parts.mutex);
    parts.aborted = true;
    now = parts.group;
  }
  if (now) now->abort();
}

void Session::describe(const std::string& text) {
  if (parts_->agent) parts_->agent->describe(text);
}

}  // namespace tandem::elastic
