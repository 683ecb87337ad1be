#include "elastic/session/saves.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/save.h"
#include "membership/message.h"
#include "tandem/process_group.h"

namespace tandem::elastic {
namespace {

// Of the disk, which may have room, or be back, when the next checkpoint is due.
bool is_of_storage(const Error& error) {
  return error.code() == ErrorCode::kIo || error.code() == ErrorCode::kNotFound;
}

// One line for people, of all ranks together.
void tell(const ProcessGroup& group, const std::string& text) {
  if (group.rank() == 0) std::fprintf(stderr, "tandem: %s\n", text.c_str());
}

}  // namespace

bool Saves::resume(const std::shared_ptr<ProcessGroup>& group, Commits& commits, std::int64_t epoch) {
  if (options_.checkpoints.empty()) return false;
  CheckpointFolder saved(options_.checkpoints, {options_.checkpoints_kept, group});
  const auto newest = saved.load();
  if (!newest) {
    if (epoch > 1)
      tell(*group,
           "no rank has a commit, and there is no checkpoint in " + options_.checkpoints + ": training begins anew");
    return false;
  }
  has_seen_disk_ = true;
  CheckpointContent content;
  content.values = newest->values;
  for (const auto& [section, tensors] : newest->sections) content.replicated[section] = tensors;
  // Sections without tensors have no file.
  for (const auto& [section, tensors] : commits.last().content.replicated) content.replicated[section];
  commits.forget_steps();
  commits.take(content, newest->step);
  for (const std::string& why : newest->refused) {
    tell(*group, "the checkpoint " + why + "; training goes on from that of step " + std::to_string(newest->step) +
                     " in " + options_.checkpoints);
  }
  return true;
}

void Saves::begin(std::shared_ptr<ProcessGroup> group, std::function<std::string()> why_not, std::int64_t steps,
                  bool resumed) {
  group_ = std::move(group);
  why_not_ = std::move(why_not);
  agree();
  // The epoch before may have ended while this one was written, or before it was.
  if (!resumed) make_due(steps);
}

// Ranks that are new know nothing. Whoever has other options would miss later collectives, so that all hear of it here.
void Saves::agree() {
  if (group_->size() == 1) return;
  const std::string known = {has_seen_disk_ ? '1' : '0', is_owed_ ? '1' : '0'};
  const std::vector<std::string> all = group_->all_gather_bytes(known + std::to_string(options_.checkpoint_every));
  if (const auto failure = group_->failure()) throw *failure;  // what a device gave may be anything then
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::string every = all[rank].substr(std::min<std::size_t>(2, all[rank].size()));
    if (every != std::to_string(options_.checkpoint_every)) {
      throw Error(ErrorCode::kInvalidArgument, "elastic: checkpoint_every is " +
                                                   std::to_string(options_.checkpoint_every) + " on rank " +
                                                   std::to_string(group_->rank()) + " and " + every + " on rank " +
                                                   std::to_string(rank) + "; give all ranks the same");
    }
    has_seen_disk_ |= all[rank][0] == '1';
    is_owed_ |= all[rank][1] == '1';
  }
}

void Saves::make_due(std::int64_t steps) {
  is_due_ = options_.checkpoint_every > 0 && steps > 0 && steps % options_.checkpoint_every == 0;
  is_owed_ |= is_due_;
}

void Saves::committed(std::int64_t steps) { make_due(steps); }

void Saves::write(Commits& commits) {
  if (!std::exchange(is_due_, false)) return;
  settle(/*closes=*/false);
  is_owed_ = true;  // that the one before is there says nothing of this one
  if (!folder_) {
    const CheckpointOptions options{options_.checkpoints_kept, group_, why_not_};
    folder_ = std::make_unique<CheckpointFolder>(options_.checkpoints, options);
  }
  const Commit& last = commits.last();
  CheckpointContent content = last.content;
  content.own.clear();  // it is of this process, and ranks change
  folder_->save_async(last.step, content);
  is_writing_ = true;
}

// Waits for the save before, and gives what the disk failed of, or why there might be none, the same on all ranks.
std::optional<Saves::Failure> Saves::settled(bool closes) {
  if (!folder_) return {};
  const bool was_writing = std::exchange(is_writing_, false);
  try {
    if (closes) {
      folder_->close();
    } else {
      folder_->wait();
    }
    if (seen_early_) std::rethrow_exception(std::exchange(seen_early_, nullptr));
  } catch (const checkpoint::OlderOnesStay& error) {
    if (!is_of_storage(error)) throw;
    tell(*group_, error.what() + std::string("; training goes on"));
  } catch (const checkpoint::NotPermitted& error) {
    return Failure{error, error.why()};
  } catch (const Error& error) {
    if (!is_of_storage(error)) throw;
    return Failure{error};
  }
  if (was_writing) {
    is_owed_ = is_due_;  // a newer one, which is not written yet
    has_seen_disk_ = true;
  }
  return {};
}

void Saves::settle(bool closes) {
  const auto failed = settled(closes);
  if (!failed) return;
  if (!has_seen_disk_ && failed->forbidden.empty()) fail(failed->error);
  tell_of_loss(*failed);
}

void Saves::tell_of_loss(const Failure& failure) const {
  if (!failure.forbidden.empty()) return;
  tell(*group_,
       failure.error.what() +
           std::string(
               "; training goes on, and writes the next one when it is due: make room there, or look after that disk"));
}

void Saves::fail(const Error& error) {
  has_failed_ = true;
  throw error;
}

void Saves::look() {
  if (!is_writing_ || seen_early_ || group_->rank() != 0 || folder_->saving()) return;
  try {
    const auto failed = settled(/*closes=*/false);
    if (!failed) return;
    if (has_seen_disk_ || !failed->forbidden.empty()) return tell_of_loss(*failed);
    seen_early_ = std::make_exception_ptr(failed->error);
  } catch (...) {
    seen_early_ = std::current_exception();
  }
  is_writing_ = true;
}

void Saves::close(Commits& commits) {
  if (group_) write(commits);
  settle(/*closes=*/true);
  folder_.reset();
  group_.reset();
}

void Saves::drop() {
  if (is_writing_ && !folder_->saving()) {
    try {
      if (const auto failed = settled(/*closes=*/false)) tell_of_loss(*failed);
    } catch (const std::exception&) {  // as the group did
    }
  }
  is_due_ = is_writing_ = false;
  seen_early_ = nullptr;
  if (folder_) {
    folder_->abort();
    dropped_ = std::move(folder_);  // which waits until it has ended: the others do not
  }
  group_.reset();
}

void Saves::finish(Commits& commits) {
  if (group_) write(commits);
  auto failed = settled(/*closes=*/true);
  if (group_ && is_owed_ && (!failed || has_seen_disk_ || !failed->forbidden.empty())) {
    is_due_ = true;
    write(commits);
    failed = settled(/*closes=*/true);
  }
  // Ranks meet again, and know what is owed.
  if (failed && failed->forbidden == membership::kEpochIsOver) throw failed->error;
  if (failed) fail(failed->error);
  folder_.reset();
}

}  // namespace tandem::elastic
