// Elastic training: ranks come and go while a program trains, in the same processes.
//
//   tandem::elastic::State state;                                  // what training goes on with
//   state.module("model", *net).optimizer("optimizer", *optimizer).loader("data", loader_state);
//   tandem::elastic::run(state, [&](tandem::elastic::Context& context) {
//     tandem::DistributedDataParallel<Net> model(net, context.group());
//     tandem::DataLoader loader(data, {.batch_size = 64, .rank = context.rank(), .world_size = context.size()});
//     if (!loader_state.empty()) loader.restore(loader_state);
//     while (auto batch = loader.next()) {
//       ... backward, optimizer->step() ...
//       loader.commit();
//       loader_state = loader.state();
//       context.step();
//     }
//   });
//
// Under `tandem run`. docs/elastic.md says what happens when.
#pragma once

#include <torch/nn/module.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tandem/checkpoint.h"
#include "tandem/error.h"
#include "tandem/export.h"
#include "tandem/lr_scheduler.h"
#include "tandem/optim.h"
#include "tandem/process_group.h"

namespace tandem::elastic {

// What training goes on with after a rank was lost or has joined: the same on all ranks. Names are those of a
// checkpoint's sections. References have to live as long as the state.
class TANDEM_API State {
 public:
  // Parameters and buffers.
  State& module(const std::string& name, torch::nn::Module& module);
  // With its settings, and what schedulers keep with them.
  State& optimizer(const std::string& name, optim::Optimizer& optimizer);
  // After its optimizer, whose rates it sets when it is loaded.
  State& scheduler(const std::string& name, optim::LrScheduler& scheduler);
  // Any dense tensors; what they hold is changed in place.
  State& tensors(const std::string& name, std::function<NamedTensors()> tensors);
  // A value of the program's own, as text: a loader's state, an epoch's number, JSON.
  State& value(const std::string& name, std::function<std::string()> save, std::function<void(const std::string&)> load);
  State& value(const std::string& name, std::string& text);
  State& value(const std::string& name, std::int64_t& number);
  State& value(const std::string& name, double& number);

  CheckpointContent content() const;
  // Drops gradients, which may be those of a backward pass that a failure ended. Throws Error(kInvalidArgument) where
  // names or shapes differ from those that were given.
  void load(const Checkpoint& checkpoint) const;

 private:
  struct Section {
    std::string name;
    std::function<NamedTensors()> tensors;
    std::function<void(const NamedTensors&)> load;
  };
  struct Value {
    std::string name;
    std::function<std::string()> save;
    std::function<void(const std::string&)> load;
  };
  std::vector<Section> sections_;
  std::vector<Value> values_;
};

struct Options {
  // Backend, timeout, device and interface of the groups; rank, size and store are the job's.
  ProcessGroupOptions group{.backend = "auto"};
  // Steps from one commit to the next: what a failure costs at most, against a copy of the state in memory.
  std::int64_t commit_every = 10;
  // A folder, which all ranks see: where nobody is left who has a commit, training goes on from its newest checkpoint.
  std::string checkpoints = "";
  // Steps, a multiple of commit_every; 0: none are written. Once one was written or loaded, one that the disk refuses (kIo, kNotFound)
  // is told on stderr, and training goes on; before that it is an error. Where the last one is missing Session::done() writes the last
  // commit, or throws.
  std::int64_t checkpoint_every = 0;
  std::size_t checkpoints_kept = 3;
  // With it, random numbers of LibTorch's generators for the CPU and for group.device are those of (seed, step, rank) in
  // each step, so that a step that is made again draws what it drew before, whoever makes it.
  std::optional<std::uint64_t> seed = {};
  // Steps, a multiple of commit_every, after which all ranks compare the parameters that they are about to commit, by
  // hashes; 0: never. A rank that has others than most computes wrongly: its commit() throws Error(kDataLoss), and the
  // others go on without it from the commit before. Where there is no majority, as with two ranks, all of them throw.
  std::int64_t check_every = 0;
};

// The parts of run(), for front ends of other languages and for loops of one's own:
//
//   Session session(options);
//   session.commit(content());                   // what training begins with
//   while (session.meet()) {
//     load(session.committed());
//     ... train; after each step:
//         if (session.step() …) session.commit(content());
//     if all went well: session.done(); else if (!session.has_ended()) throw;
//   }
//
// One thread at a time, but for leave() and abort().
class TANDEM_API Session {
 public:
  // Connects to the launcher's agent. Without one (torchrun, or no launcher) there is one epoch: of the ranks that the
  // environment names, or of one; what fails then is the program's.
  explicit Session(Options options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Copies what training goes on with, at the step that step() has come to; tensors are read before it returns. Blocks
  // for as long as a copy of the tensors in memory takes. Errors: kDataLoss, see Options::check_every.
  void commit(const CheckpointContent& content);
  // What the last commit has, or what meet() brought.
  const Checkpoint& committed() const;

  // Waits for the next membership epoch, connects its ranks and brings all of them the newest commit that one of them
  // has. False: the training came to its end without this process, a spare that nobody needed, or has_left(). Where ranks
  // are lost meanwhile it waits for the next one. Errors: kInvalidArgument (no commit, or ranks whose state differs in names or
  // shapes), kDataLoss (a state that differs from what was sent, or between ranks of the same step), kPeerLost (the
  // launcher is gone), those of CheckpointFolder::load().
  bool meet();

  const std::shared_ptr<ProcessGroup>& group() const;
  std::int64_t epoch() const;  // of the membership, from 1
  std::int64_t steps() const;  // completed since the job began, on whatever ranks

  enum class Next {
    kGoOn,
    kCommit,  // the next call is commit()
    kStop,    // commit(), and then meet(): others join, or a rank leaves
    kLeave,   // commit(), and then left()
  };
  // This rank has completed a step, its optimizer's included. Throws Error(kAborted) once the epoch has ended by a
  // failure.
  Next step();

  // Whether training failed because the epoch ended, or its group failed, so that meet() is next. Waits a moment for
  // what the launcher has to say, since a lost rank may show here first, as whatever was under way.
  bool has_ended();
  // Training has come to its end. Errors: those of the last checkpoint.
  void done();
  // This rank wants to leave (its machine is about to go): step() says kLeave soon. From any thread.
  void leave();
  void left();
  // Whether leave() came while this process waited, and meet() ended by that.
  bool has_left() const;
  // Ends what waits for other ranks, here and in the group, with Error(kAborted), and all later calls that would. From any
  // thread.
  void abort();
  // Said of this rank by the launcher, with its step.
  void describe(const std::string& text);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// What training sees of the membership epoch that it runs in.
class TANDEM_API Context {
 public:
  Context(Session& session, const State& state) : session_(session), state_(state) {}

  // Connects this epoch's ranks. What is made of it (DDP, loaders) goes with the epoch.
  const std::shared_ptr<ProcessGroup>& group() const { return session_.group(); }
  std::int64_t rank() const { return group()->rank(); }
  std::int64_t size() const { return group()->size(); }
  std::int64_t epoch() const { return session_.epoch(); }
  std::int64_t steps() const { return session_.steps(); }

  // After the optimizer's step and whatever else belongs to it. Throws MembershipChange where training is to begin
  // again with other ranks, from here.
  void step();
  // A commit now, at the step that is completed: on all ranks.
  void commit() { session_.commit(state_.content()); }
  void leave() { session_.leave(); }
  void describe(const std::string& text) { session_.describe(text); }

 private:
  Session& session_;
  const State& state_;
};

// Ranks have stopped between two steps for others to join or leave: for run(), which calls `train` again.
class TANDEM_API MembershipChange : public Error {
 public:
  explicit MembershipChange(bool leaves)
      : Error(ErrorCode::kAborted, "ranks join or leave: training goes on in the next membership epoch"), leaves_(leaves) {}
  bool leaves() const { return leaves_; }

 private:
  bool leaves_;
};

enum class Outcome {
  kFinished,   // `train` has come to its end
  kNotNeeded,  // the others came to the end without this process
  kLeft,       // after Context::leave()
};

// Calls `train`, again with other ranks whenever that changes: with the state of the last commit after a failure, from
// where it was where ranks join or leave. `train` returns when training is over; what it throws, unless a rank was
// lost, is thrown.
TANDEM_API Outcome run(const State& state, const std::function<void(Context&)>& train, const Options& options = {});

}  // namespace tandem::elastic
