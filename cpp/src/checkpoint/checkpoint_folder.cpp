#include <exception>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/invalid.h"
#include "checkpoint/background.h"
#include "checkpoint/folder.h"
#include "checkpoint/load.h"
#include "checkpoint/pulse.h"
#include "checkpoint/ranks.h"
#include "checkpoint/save.h"
#include "checkpoint/staging.h"
#include "comm/store/store_limit.h"
#include "tandem/checkpoint.h"
#include "tandem/error.h"
#include "tandem/process_group.h"

namespace tandem {

using checkpoint::Folder;
using checkpoint::Ranks;

struct CheckpointFolder::Parts {
  Parts(std::string path, CheckpointOptions given)
      : folder(std::move(path)), options(std::move(given)), ranks(options.group.get()) {}

  const Folder folder;
  const CheckpointOptions options;
  const Ranks ranks;
  checkpoint::Staging staging;

  // Of saves beside training: others' collectives may be under way in the group that was given.
  std::shared_ptr<ProcessGroup> own_group;
  std::unique_ptr<checkpoint::Pulse> pulse;  // in that group
  // Made after that group, so that a shutdown waits for the save before it ends the group.
  std::unique_ptr<checkpoint::Background> background;

  std::mutex aborting;  // `aborted`, and that group as others see it
  bool aborted = false;
  const std::shared_ptr<StoreInterrupt> meeting = std::make_shared<StoreInterrupt>();  // of making it

  ~Parts() { end(); }

  // Meets the other ranks. Ends early where the group that was given does, or with `meeting`.
  void make_own_group();
  // Waits for a save that goes on, as long as all ranks' processes run.
  void end();
  void refuse_if_aborted() {
    const std::lock_guard lock(aborting);
    if (aborted) throw Error(ErrorCode::kAborted, "the folder of checkpoints " + folder.path() + " was aborted");
  }
  void finish() {
    if (background) background->finish();
  }

  // What the ranks can choose from, the best first, as rank 0 sees it: with `latest` those that it names and before.
  std::vector<std::int64_t> candidates(const CheckpointRequest& request) const;
  std::string refusal(std::int64_t step, const Error& why) const {
    return checkpoint::step_name(step) + ": " + why.what();
  }
};

CheckpointFolder::CheckpointFolder(std::string path, CheckpointOptions options) {
  if (path.empty()) invalid("a folder of checkpoints needs a name");
  parts_ = std::make_unique<Parts>(std::move(path), std::move(options));
}

CheckpointFolder::~CheckpointFolder() = default;

const std::string& CheckpointFolder::path() const {
  return parts_->folder.path();
}

void CheckpointFolder::save(std::int64_t step, const CheckpointContent& content) {
  parts_->finish();
  checkpoint::save(parts_->folder, parts_->ranks, parts_->options, step,
                   [&]() -> const CheckpointContent& { return content; });
}

void CheckpointFolder::save(std::int64_t step, const Make& content) {
  parts_->finish();
  std::optional<CheckpointContent> made;
  checkpoint::save(parts_->folder, parts_->ranks, parts_->options, step, [&]() -> const CheckpointContent& {
    if (!made) made = content();
    return *made;
  });
}

void CheckpointFolder::save_async(std::int64_t step, const CheckpointContent& content) {
  save_async(step, [&] { return content; });  // copies handles
}

void CheckpointFolder::save_async(std::int64_t step, const Make& content) {
  Parts& parts = *parts_;
  parts.finish();
  parts.refuse_if_aborted();
  if (step < 0) invalid("a checkpoint's step is counted from 0, not " + std::to_string(step));
  try {
    if (parts.options.group && !parts.own_group) parts.make_own_group();
  } catch (const Error& error) {
    throw Error(error.code(),
                "checkpoint " + checkpoint::step_name(step) + " in " + path() + " was not saved: " + error.what());
  }
  if (!parts.background) {
    const auto give_up = [group = parts.own_group] {
      if (group) group->abort();
    };
    parts.background = std::make_unique<checkpoint::Background>("a checkpoint in " + path(), give_up);
  }
  // A rank that cannot copy tells the others so as it would any failure: they save already.
  auto copy = std::make_shared<CheckpointContent>();
  std::exception_ptr unable;
  try {
    *copy = parts.staging.copy(content(), parts.ranks.rank() == 0);
  } catch (...) {
    unable = std::current_exception();
    if (!parts.own_group) throw;
  }
  parts.background->start([&parts, copy, unable, step] {
    checkpoint::save(parts.folder, Ranks(parts.own_group.get(), /*named=*/true), parts.options, step,
                     [&]() -> const CheckpointContent& {
                       if (unable) std::rethrow_exception(unable);
                       return *copy;
                     });
  });
  if (unable) parts.finish();  // throws it, once the others are told
}

void CheckpointFolder::Parts::make_own_group() {
  std::vector<int> all(ranks.size());
  std::iota(all.begin(), all.end(), 0);
  const StoreLimit limit(meeting);
  auto made = options.group->new_group(all, options.group->name() + ".checkpoint");
  options.group->abort_with_this(made);
  pulse = std::make_unique<checkpoint::Pulse>(made->native()->getStore(), made->rank(), made->size());
  const std::lock_guard lock(aborting);
  own_group = std::move(made);
  if (aborted) own_group->abort();
}

void CheckpointFolder::Parts::end() {
  if (!background) return;
  background->join(checkpoint::Pulse::kBeat, [this] {
    if (pulse && !pulse->silent().empty()) own_group->abort();
  });
}

void CheckpointFolder::close() {
  parts_->end();
  parts_->finish();
}

void CheckpointFolder::abort() {
  const std::lock_guard lock(parts_->aborting);
  parts_->aborted = true;
  parts_->meeting->interrupt();
  if (parts_->own_group) parts_->own_group->abort();
}

bool CheckpointFolder::saving() const {
  return parts_->background && parts_->background->running();
}

void CheckpointFolder::wait() {
  parts_->finish();
}

std::vector<std::int64_t> CheckpointFolder::steps() const {
  return parts_->folder.steps();
}

std::vector<std::int64_t> CheckpointFolder::Parts::candidates(const CheckpointRequest& request) const {
  folder.recover();
  if (request.step) return {*request.step};
  auto steps = folder.steps();
  if (const auto latest = folder.latest()) {
    std::erase_if(steps, [&](std::int64_t step) { return step > *latest; });
  }
  return {steps.rbegin(), steps.rend()};
}

std::optional<Checkpoint> CheckpointFolder::load(const CheckpointRequest& request) {
  Parts& parts = *parts_;
  if (parts.background) parts.background->join();  // what it failed of is told where something is saved
  // One list for all ranks: a file system may show them different ones.
  std::string listed = parts.ranks.together([&] {
    std::string list;
    if (parts.ranks.rank() == 0) {
      for (const std::int64_t step : parts.candidates(request)) list += std::to_string(step) + " ";
    }
    return list;
  })[0];
  std::vector<std::string> refused;
  for (std::size_t at = 0, end; (end = listed.find(' ', at)) != std::string::npos; at = end + 1) {
    const std::int64_t step = std::stoll(listed.substr(at, end - at));
    Checkpoint read;
    const auto outcomes = parts.ranks.tell(checkpoint::outcome_of([&]() -> std::string {
      read = checkpoint::read(parts.folder, step, request);
      return {};
    }));
    const auto failure = checkpoint::failure_of(outcomes, parts.ranks.rank());
    if (!failure) {
      read.refused = std::move(refused);
      return read;
    }
    const bool is_damage = failure->code() == ErrorCode::kDataLoss || failure->code() == ErrorCode::kIo ||
                           failure->code() == ErrorCode::kNotFound;
    if (!is_damage || request.step) throw *failure;
    refused.push_back(parts.refusal(step, *failure));
  }
  if (refused.empty()) return {};
  std::string list;
  for (const std::string& why : refused) list += "\n  " + why;
  throw Error(ErrorCode::kDataLoss, "no checkpoint in " + parts.folder.path() + " can be used:" + list);
}

void CheckpointFolder::together(const std::function<void()>& part) {
  std::exception_ptr thrown;
  const auto all = parts_->ranks.tell(checkpoint::outcome_of([&]() -> std::string {
    try {
      part();
    } catch (...) {
      thrown = std::current_exception();
      throw;
    }
    return {};
  }));
  if (thrown) std::rethrow_exception(thrown);
  if (const auto failure = checkpoint::failure_of(all, parts_->ranks.rank())) throw *failure;
}

}  // namespace tandem
