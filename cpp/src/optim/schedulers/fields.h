// A scheduler's state: the same list of names and members writes it and loads it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tandem/lr_scheduler.h"

namespace tandem::optim {

SchedulerState empty_state();

// The most that epochs, steps and lengths of cycles may be: until there a double counts them exactly, and no sum of two
// overflows.
inline constexpr std::int64_t kMostEpochs = std::int64_t{1} << 53;

class Fields {
 public:
  enum class Mode { kSave, kLoad };

  Fields(Mode mode, const char* owner, std::size_t groups, SchedulerState state)
      : mode_(mode), owner_(owner), groups_(groups), state_(std::move(state)) {}

  template <typename T>
  void operator()(const char* name, T& member) {
    names_.insert(name);
    if (mode_ == Mode::kSave) {
      state_.insert(name, saved(member));
      return;
    }
    loaded(name, given(name), member);
  }

  // A number of things: at least 1.
  void count(const char* name, std::int64_t& member);
  // A list with a number for each group.
  void per_group(const char* name, std::vector<double>& member);
  // Is saved, and of no account when it is loaded.
  void constant(const char* name, at::IValue value);
  // May be there when the state is loaded.
  void ignore(const char* name) { names_.insert(name); }

  // What `name` has while it is loaded.
  const at::IValue& given(const char* name);
  [[noreturn]] void refuse(const std::string& name, const std::string& why) const;

  Mode mode() const { return mode_; }
  std::size_t groups() const { return groups_; }
  // Throws Error where the state has names that nobody asked for.
  void finish() const;

 private:
  template <typename T>
  static at::IValue saved(const T& value) {
    return value;
  }
  static at::IValue saved(const std::optional<double>& value) { return value ? at::IValue(*value) : at::IValue(); }
  static at::IValue saved(const std::map<std::int64_t, std::int64_t>& value);

  void loaded(const char* name, const at::IValue& value, std::int64_t& target) const;
  void loaded(const char* name, const at::IValue& value, double& target) const;
  void loaded(const char* name, const at::IValue& value, bool& target) const;
  void loaded(const char* name, const at::IValue& value, std::string& target) const;
  void loaded(const char* name, const at::IValue& value, std::optional<double>& target) const;
  void loaded(const char* name, const at::IValue& value, std::vector<double>& target) const;
  void loaded(const char* name, const at::IValue& value, std::vector<std::int64_t>& target) const;
  void loaded(const char* name, const at::IValue& value, std::map<std::int64_t, std::int64_t>& target) const;

  Mode mode_;
  const char* owner_;
  std::size_t groups_;
  SchedulerState state_;
  std::set<std::string> names_;
  at::IValue found_;
};

}  // namespace tandem::optim
