#include "pipeline/messenger.h"

#include <algorithm>

#include "base/own_thread.h"
#include "pipeline/failure.h"
#include "pipeline/schedule.h"

namespace tandem {

StageMessenger::StageMessenger(const PipelineParts& parts, const std::vector<PipelineAction>& actions)
    : parts_(parts), group_(*parts.group), schedule_(parts.options.schedule) {
  for (const PipelineAction& action : actions) {
    const auto source = source_of(action, schedule_.stages());
    if (source && rank_of(*source) != group_.rank()) expected_.push_back(*source);
  }
  if (!expected_.empty()) receiver_ = start_own_thread("pipeline", [this] { receive_all(); });
}

StageMessenger::~StageMessenger() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  if (!finished_) group_.abort();  // which ends a receive that goes on
  if (receiver_.joinable()) receiver_.join();
}

// Below 2^30, as verify() bounds stages and micro-batches.
int StageMessenger::tag_of(const PipelineAction& action) const {
  const int kind = action.kind == PipelineAction::Kind::kForward ? 0 : 1;
  return (kind * schedule_.stages() + action.stage) * schedule_.micro_batches + action.micro_batch;
}

void StageMessenger::rethrow(const char* what, const PipelineAction& action, int rank) const {
  const std::string where = "pipeline, rank " + parts_.number_of(group_.rank()) + ": " + what + " the " +
                            describe(action) + " (rank " + parts_.number_of(rank) + "): ";
  try {
    throw;
  } catch (const std::exception& error) {
    throw Error(code_of(error, ErrorCode::kInternal), where + plain(error));
  }
}

void StageMessenger::receive_all() {
  for (const PipelineAction& source : expected_) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return stopped_ || received_.size() < kMostAhead; });
      if (stopped_) return;
    }
    try {
      StageMessage message = receive(source);
      const std::lock_guard<std::mutex> lock(mutex_);
      received_.emplace(tag_of(source), std::move(message));
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      failure_ = std::current_exception();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    changed_.notify_all();
    if (failure_) return;
  }
}

StageMessage StageMessenger::receive(const PipelineAction& source) {
  const int from = rank_of(source), tag = tag_of(source);
  try {
    const at::Tensor header = at::empty({kHeaderBytes}, at::kByte);
    group_.recv(header, from, tag);
    StageMessage message = from_header(header);
    for (const at::Tensor& tensor : message.tensors) {
      if (tensor.defined() && tensor.numel() > 0) group_.recv(tensor, from, tag);
    }
    return message;
  } catch (const std::exception&) {
    rethrow("waiting for", source, from);
  }
}

StageMessage StageMessenger::take(const PipelineAction& source) {
  const int tag = tag_of(source);
  if (rank_of(source) == group_.rank()) return std::move(own_.extract(tag).mapped());
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || received_.contains(tag); });
  if (!received_.contains(tag)) std::rethrow_exception(failure_);
  StageMessage message = std::move(received_.extract(tag).mapped());
  changed_.notify_all();
  return message;
}

void StageMessenger::send(const PipelineAction& action, StageMessage message) {
  const auto target = target_of(action, schedule_.stages());
  if (!target) return;
  const int to = rank_of(*target), tag = tag_of(action);
  if (to == group_.rank()) {
    own_.emplace(tag, std::move(message));
    return;
  }
  try {
    release_sent();
    // Who holds a gradient keeps autograd from taking its memory, and adding to it, while it is under way.
    Sent& sent = sends_[tag];
    sent.action = action;
    sent.tensors = message.tensors;
    std::vector<Work>& works = sent.works;
    works.push_back(group_.isend(to_header(message), to, tag));
    if (message.failure) return;
    for (const at::Tensor& tensor : message.tensors) {
      if (tensor.defined() && tensor.numel() > 0) works.push_back(group_.isend(tensor.detach(), to, tag));
    }
  } catch (const std::exception&) {
    rethrow("sending to", *target, to);
  }
}

// Nothing comes back that says that the gradients of a backward have arrived.
void StageMessenger::release_sent() {
  constexpr std::size_t kMostKept = 8;
  if (sends_.size() <= kMostKept) return;
  std::erase_if(sends_, [](const auto& sent) {
    return std::ranges::all_of(sent.second.works, [](const Work& work) { return work.is_completed() && !work.error(); });
  });
}

void StageMessenger::settle(const PipelineAction& action) {
  const auto found = sends_.find(tag_of(action));
  if (found == sends_.end()) return;
  wait_for(action, found->second.works);
  sends_.erase(found);
}

void StageMessenger::wait_for(const PipelineAction& action, std::vector<Work>& works) const {
  try {
    for (Work& work : works) work.wait();
  } catch (const std::exception&) {
    const PipelineAction target = *target_of(action, schedule_.stages());
    rethrow("sending to", target, rank_of(target));
  }
}

void StageMessenger::finish() {
  if (receiver_.joinable()) receiver_.join();
  for (auto& [tag, sent] : sends_) wait_for(sent.action, sent.works);
  sends_.clear();
  finished_ = true;
}

}  // namespace tandem
