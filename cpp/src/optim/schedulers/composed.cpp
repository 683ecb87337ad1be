// Schedulers made of others.
#include <algorithm>

#include "optim/schedulers/scheduler.h"

namespace tandem::optim {
namespace {

using Parts = std::vector<std::shared_ptr<Scheduler>>;

class Composed : public Scheduler {
 public:
  using Scheduler::step;

  void initial_step() final {
    is_part_ = true;
    step();
  }
  void undo() final {
    for (const auto& part : parts_) part->undo();
  }

 protected:
  Composed(const char* type, std::shared_ptr<Optimizer> optimizer, Parts parts)
      : Scheduler(type, std::move(optimizer)), parts_(std::move(parts)) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const auto place = ": scheduler " + std::to_string(i);
      if (!parts_[i]) refuse(place + " is none of Tandem's");
      if (parts_[i]->type() == std::string("ReduceLROnPlateau")) {
        refuse(place + " is a ReduceLROnPlateau, which needs a metric at each step; step it beside this one");
      }
      if (parts_[i]->optimizer() != this->optimizer()) {
        refuse(place + ", a " + parts_[i]->type() + ", is of another optimizer; all must be of one");
      }
    }
  }

  void part_fields(Fields& fields) {
    const char* name = "_schedulers";
    if (fields.mode() == Fields::Mode::kSave) {
      // What Python's constructor of a SequentialLR leaves in its first scheduler, and never changes.
      if (is_part_) {
        fields.constant("_step_count", 0);
        fields.constant("_is_initial", false);
      }
      c10::impl::GenericList list(c10::AnyType::get());
      for (const auto& part : parts_) list.push_back(part->state());
      fields.constant(name, list);
      return;
    }
    fields.ignore("_step_count");
    fields.ignore("_is_initial");
    const at::IValue given = fields.given(name);
    if (!given.isList() || given.toListRef().size() != parts_.size()) {
      fields.refuse(name, "is not the state of " + std::to_string(parts_.size()) + " schedulers");
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const at::IValue& one = given.toListRef()[i];
      if (!one.isGenericDict()) fields.refuse(name, "is no list of dictionaries");
      Fields inner(fields.mode(), parts_[i]->type(), groups(), one.toGenericDict());
      parts_[i]->fields(inner);
      inner.finish();
    }
  }

  Parts parts_;

 private:
  bool is_part_ = false;  // the first of a SequentialLR
};

class SequentialLr : public Composed {
 public:
  SequentialLr(std::shared_ptr<Optimizer> optimizer, Parts parts, std::vector<std::int64_t> milestones,
               std::int64_t last_epoch)
      : Composed("SequentialLR", std::move(optimizer), std::move(parts)),
        milestones_(std::move(milestones)),
        last_epoch_(std::clamp<std::int64_t>(last_epoch, -1, kMostEpochs) + 1) {
    if (last_epoch < -1 || last_epoch > kMostEpochs) {
      refuse(": last_epoch is " + std::to_string(last_epoch) + "; -1 begins anew, and the last epoch is " +
             std::to_string(kMostEpochs));
    }
    if (parts_.empty()) refuse(" needs at least one scheduler");
    if (milestones_.size() + 1 != parts_.size()) {
      refuse(" has " + std::to_string(parts_.size()) + " schedulers and " + std::to_string(milestones_.size()) +
             " milestones; there must be one milestone fewer than schedulers");
    }
    if (!std::is_sorted(milestones_.begin(), milestones_.end())) refuse(": its milestones must ascend");
    for (std::size_t i = 1; i < parts_.size(); ++i) {
      if (!parts_[i]->can_begin_later()) {
        refuse(": scheduler " + std::to_string(i) + " is a " + parts_[i]->type() +
               ", which can only be the first; give its schedulers one after the other instead");
      }
    }
    std::vector<double> initial;
    for (std::size_t group = 0; group < groups(); ++group) initial.push_back(kept(group, "initial_lr"));
    set_lrs(initial);
    undo();
    parts_[0]->initial_step();
    last_lr_ = parts_[0]->last_lr();
  }

  void step() override {
    ++last_epoch_;
    const std::size_t place = at_epoch();
    Scheduler& part = *parts_[place];
    try {
      if (place > 0 && milestones_[place - 1] == last_epoch_) {
        part.begin_at_zero();
      } else {
        part.step();
      }
    } catch (...) {
      --last_epoch_;
      throw;
    }
    last_lr_ = part.last_lr();
  }

  void fields(Fields& fields) override {
    const std::size_t count = milestones_.size();
    fields("_milestones", milestones_);
    if (milestones_.size() != count) fields.refuse("_milestones", "has another number of milestones");
    fields("last_epoch", last_epoch_);
    fields.per_group("_last_lr", last_lr_);
    part_fields(fields);
  }

  void restore() override { parts_[at_epoch()]->restore(); }

 private:
  std::size_t at_epoch() const {
    return static_cast<std::size_t>(std::upper_bound(milestones_.begin(), milestones_.end(), last_epoch_) -
                                    milestones_.begin());
  }

  std::vector<std::int64_t> milestones_;
  std::int64_t last_epoch_;
};

class ChainedScheduler : public Composed {
 public:
  ChainedScheduler(std::shared_ptr<Optimizer> optimizer, Parts parts)
      : Composed("ChainedScheduler", std::move(optimizer), std::move(parts)) {
    last_lr_ = lrs();
  }

  void step() override {
    for (const auto& part : parts_) part->step();
    last_lr_ = lrs();
  }

  void fields(Fields& fields) override {
    fields.per_group("_last_lr", last_lr_);
    part_fields(fields);
  }

  void restore() override {
    for (const auto& part : parts_) part->restore();
  }
};

Parts parts_of(const std::vector<std::shared_ptr<LrScheduler>>& schedulers) {
  Parts parts;
  for (const auto& one : schedulers) parts.push_back(std::dynamic_pointer_cast<Scheduler>(one));
  return parts;
}

}  // namespace

std::shared_ptr<LrScheduler> make_sequential_lr(std::shared_ptr<Optimizer> optimizer,
                                                std::vector<std::shared_ptr<LrScheduler>> schedulers,
                                                std::vector<std::int64_t> milestones, std::int64_t last_epoch) {
  return std::make_shared<SequentialLr>(std::move(optimizer), parts_of(schedulers), std::move(milestones), last_epoch);
}

std::shared_ptr<LrScheduler> make_chained_scheduler(std::vector<std::shared_ptr<LrScheduler>> schedulers) {
  Parts parts = parts_of(schedulers);
  if (parts.empty() || !parts[0]) {
    throw Error(ErrorCode::kInvalidArgument, "ChainedScheduler needs at least one scheduler, and only Tandem's");
  }
  const std::shared_ptr<Optimizer> optimizer = parts[0]->optimizer();
  return std::make_shared<ChainedScheduler>(optimizer, std::move(parts));
}

}  // namespace tandem::optim
