// Who takes part in an elastic job, with which rank, and from when on: the rules, without their transport.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "membership/message.h"
#include "membership/node_message.h"
#include "membership/slow_rank.h"

namespace tandem::membership {

// A process of the job, whichever slot it was started for; never used again.
using Member = std::int64_t;

struct CoordinatorOptions {
  int most = 1;   // ranks; who is left over waits as a spare
  int least = 1;  // ranks, below which the job cannot go on
  std::chrono::milliseconds gather{50};    // for others that join, too, before all are stopped for one
  std::chrono::milliseconds meeting{30000};  // of all who take part, when an epoch has ended
  std::chrono::milliseconds silence{30000};  // without a sign of life, after which a process is lost; 0: for ever
  std::chrono::milliseconds step{0};         // in which some rank has to complete one; 0: there is no limit
  std::function<bool()> is_certain;          // that nobody else decides; before, too few ranks only wait. None: it is
};

// What the agent is to do, or to say.
struct Event {
  enum class Kind {
    kFormed,    // `text` says who takes part
    kHung,      // `member` stands still, as `text` says: it is to be killed
    kFinished,  // the training has come to its end
    kTooFew,    // `text`: there are not enough left to go on
    // Of jobs on several nodes:
    kSaid,  // `text` is for people
    kStop,  // the job failed on another node, with that exit code; `text` says it all
    // Of any:
    kSlow,  // all others wait for `member`, which is not hung, as `text` says
  };
  Kind kind;
  Member member = -1;
  std::string text;
  int exit_code = 1;
};

// A state that calls change: the same calls give the same messages. Epochs are numbered from 1 and only grow.
//
//             all who take part have joined            one is lost, its group failed
//   meeting ──────────── Form ────────────▶ running ──────────── Interrupt ─────────┐
//      ▲                                       │  others join, one leaves            │
//      │                                       └── Pause, PauseAnswer …, Go ──┐      │
//      └──────────────────────────── Join of each ────────────────────────────┴──────┘
//
// Ranks pause at a step that all of them have yet to reach: each says whether it can, those that can wait there, and
// where one is past it they are told a later one. So no collective is left with some of its ranks.
//
// Whose last commit is the newest has the state that all go on with. Not thread-safe.
class Coordinator {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  explicit Coordinator(const CoordinatorOptions& options) : options_(options) {}

  // No epoch is formed before open(): others than those that were started so far are on their way.
  void hold() { held_ = true; }
  void open(Time now);
  // Other numbers of ranks than the options'.
  void limit(int most, int least);

  // Instead of who had this before, and is gone: epochs up to `epoch` are over. Between this and open() all that come
  // back are said to be returned().
  void take_over(std::int64_t epoch);
  // A process that took part before this object, or its agent's connection, was there.
  void returned(Member member, const Returned& was, Time now);
  // The epoch that was formed last is told of now.
  void tells(Time now);

  // A process was started, which may join. The first epoch waits for those of slots below `most`.
  void started(Member member, int slot);
  // It is gone, or its connection is. `reason`, as in "rank 1 (pid 4711) was killed by SIGKILL", is told to the others.
  void lost(Member member, const std::string& reason, Time now);
  // Its connection has ended, and its process lives still: it takes part no longer, and lost() comes later.
  void disconnected(Member member, const std::string& reason, Time now);
  // What it sent. Messages of an epoch that is over are passed over.
  void received(Member member, const Message& message, Time now);

  // Whether ranks of the epoch that runs want to change what outlives the job, and the answer to them all.
  bool is_asked() const { return !asked_.empty(); }
  void permit(const std::string& why_not = "");

  // A sign of life from elsewhere.
  void seen(Member member);

  // When tick() has something to do, whatever comes before.
  std::optional<Time> deadline() const;
  void tick(Time now);

  std::vector<std::pair<Member, Message>> take_messages() { return std::exchange(messages_, {}); }
  std::vector<Event> take_events() { return std::exchange(events_, {}); }

  // Whether it has said anything: from then on its loss is not the end of the job.
  bool is_elastic(Member member) const;
  // Whether it has said that its training is over, or that it left.
  bool is_done(Member member) const;
  bool has_left(Member member) const;
  bool finished() const { return finished_; }
  bool too_few() const { return too_few_; }
  // Whether it would be too_few(), were this certain.
  bool is_in_doubt() const { return in_doubt_; }
  // Whether some ranks have come to the end of their training: others are not needed any more.
  bool is_ending() const { return done_ > 0; }
  // Whether any process has said anything.
  bool is_elastic() const { return has_elastic_; }
  std::int64_t epoch() const { return epoch_; }
  // Of the epoch that runs; 0 while there is none.
  int world_size() const { return phase_ == Phase::kRunning ? static_cast<int>(ranks_.size()) : 0; }
  // What the first rank said last of how it goes.
  const std::string& progress() const { return progress_; }

 private:
  enum class Phase { kMeeting, kRunning };
  enum class State { kStarting, kWaiting, kTaking, kDone, kGone };

  struct Process {
    int slot = 0;
    State state = State::kStarting;
    bool elastic = false;
    bool leaving = false;
    bool came_back = false;
    int rank = -1;  // in the last epoch that it took part in
    std::int64_t epoch = 0;
    std::int64_t committed = -1;
    std::int64_t history = 0;  // the newest epoch whose state that is, as far as is known
    std::int64_t step = 0;
    bool waits = false;              // for others, by its last report
    Coordinator::Clock::duration silent{};  // since it was heard of
  };
  struct Stop {  // between two steps
    std::int64_t number = 0;
    std::int64_t step = 0;
    std::int64_t margin = 1;
    bool agreed = false;
    std::map<Member, PauseAnswer> answers;
  };

  void on(Member member, Process& process, const Hello&, Time now);
  void on(Member member, Process& process, const Join& join, Time now);
  void on(Member member, Process& process, const Serve& serve, Time now);
  void on(Member member, Process& process, const PauseAnswer& answer, Time now);
  void on(Member member, Process& process, const Progress& progress, Time now);
  void on(Member member, Process& process, const Done&, Time now);
  void on(Member member, Process& process, const Leave&, Time now);
  void on(Member member, Process& process, const Bye&, Time now);
  void on(Member member, Process& process, const Permit& permit, Time now);
  template <typename Other>
  void on(Member, Process&, const Other&, Time) {}  // is the agent's to say
  void release(Member member, Process& process);
  void release_leavers(const std::vector<Member>& but);
  bool only_leavers_have_the_state() const;

  bool takes_part(const Process& process) const { return process.epoch == epoch_ && process.state == State::kTaking; }
  int taking_part() const;
  bool is_candidate(const Process& process) const { return process.state == State::kWaiting && !process.leaving; }
  bool is_starting() const;
  bool wants_stop() const;
  void tell(Member member, Message message) { messages_.emplace_back(member, std::move(message)); }
  void say(Event::Kind kind, std::string text, Member member = -1) { events_.push_back({kind, member, std::move(text), 1}); }
  void tell_running(const Message& message);
  void end_epoch(const std::string& reason, Time now);
  void go_on(Time now);
  void drop_other_histories(const std::vector<Member>& members);
  void meet(Time now);
  void form(std::vector<Member> members, Time now);
  void want_stop(Time now);
  void stop_at(std::int64_t step);
  void look_at_answers();
  void look_for_silence(Clock::duration passed);
  void look_for_steps(Clock::duration passed, Time now);
  void look_for_slow_ranks();
  void finish();
  std::vector<Member> in_order(std::vector<Member> members) const;

  CoordinatorOptions options_;
  bool held_ = false;
  bool has_elastic_ = false;  // some process has said something: until then the program may be of another kind
  std::map<Member, Process> processes_;
  Phase phase_ = Phase::kMeeting;
  std::int64_t epoch_ = 0;
  std::optional<std::int64_t> taken_over_;  // the newest epoch of who had this before, until open()
  std::int64_t over_ = 0;                   // epochs up to this one are
  std::optional<Time> without_state_until_; // nobody begins anew before: who has it may come back
  std::vector<Member> ranks_;  // of the epoch
  bool served_ = false;        // its store is there, and all know of it
  bool ending_ = false;        // a first one has left it
  bool interrupted_ = false;   // of a failure; all were told
  int done_ = 0;               // ranks have come to the end of the training, in whatever epoch
  std::optional<Time> meeting_until_;
  std::optional<Time> stop_after_;  // others may join until then
  std::optional<Stop> stop_;
  std::int64_t stops_ = 0;
  Clock::duration without_step_{};
  SlowRank slow_;
  std::optional<Time> looked_;
  std::string progress_;
  bool finished_ = false;
  bool too_few_ = false;
  bool in_doubt_ = false;
  std::vector<std::pair<Member, Permit>> asked_;
  std::vector<std::pair<Member, Message>> messages_;
  std::vector<Event> events_;
};

}  // namespace tandem::membership
