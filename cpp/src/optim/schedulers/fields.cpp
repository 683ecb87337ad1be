#include "optim/schedulers/fields.h"

#include <ATen/core/jit_type.h>

#include <charconv>
#include <cmath>

#include "tandem/error.h"

namespace tandem::optim {

SchedulerState empty_state() {
  return SchedulerState(c10::StringType::get(), c10::AnyType::get());
}

void Fields::refuse(const std::string& name, const std::string& why) const {
  throw Error(ErrorCode::kInvalidArgument, std::string(owner_) + ": state '" + name + "' " + why);
}

const at::IValue& Fields::given(const char* name) {
  names_.insert(name);
  const auto found = state_.find(name);
  if (found == state_.end()) refuse(name, "is missing");
  found_ = found->value();
  return found_;
}

void Fields::count(const char* name, std::int64_t& member) {
  (*this)(name, member);
  if (member < 1) refuse(name, "must be at least 1, not " + std::to_string(member));
}

void Fields::per_group(const char* name, std::vector<double>& member) {
  (*this)(name, member);
  if (mode_ == Mode::kLoad && member.size() != groups_) {
    refuse(name, "has " + std::to_string(member.size()) + " numbers, but the optimizer has " + std::to_string(groups_) +
                     " groups");
  }
}

void Fields::constant(const char* name, at::IValue value) {
  names_.insert(name);
  if (mode_ == Mode::kSave) state_.insert(name, std::move(value));
}

void Fields::finish() const {
  if (mode_ == Mode::kSave) return;
  for (const auto& entry : state_) {
    // Earlier versions of Python's torch wrote "verbose".
    const std::string name = entry.key().isString() ? entry.key().toStringRef() : "?";
    if (names_.count(name) || name == "verbose") continue;
    std::string known;
    for (const std::string& one : names_) known += (known.empty() ? "" : ", ") + one;
    refuse(name, "is unknown; there are " + known);
  }
}

at::IValue Fields::saved(const std::map<std::int64_t, std::int64_t>& value) {
  c10::Dict<std::int64_t, std::int64_t> counts;
  for (const auto& [key, count] : value) counts.insert(key, count);
  return counts;
}

void Fields::loaded(const char* name, const at::IValue& value, std::int64_t& target) const {
  if (value.isDouble() && std::trunc(value.toDouble()) == value.toDouble() &&
      std::abs(value.toDouble()) <= kMostEpochs) {
    target = static_cast<std::int64_t>(value.toDouble());
    return;
  }
  if (!value.isInt()) refuse(name, "is no whole number, but of type " + value.tagKind());
  if (value.toInt() > kMostEpochs || value.toInt() < -kMostEpochs)
    refuse(name, "is beyond 2^53, which no number of steps is");
  target = value.toInt();
}

void Fields::loaded(const char* name, const at::IValue& value, double& target) const {
  if (!value.isInt() && !value.isDouble()) refuse(name, "is no number, but of type " + value.tagKind());
  target = value.toScalar().toDouble();
}

void Fields::loaded(const char* name, const at::IValue& value, bool& target) const {
  if (!value.isBool()) refuse(name, "is not true or false, but of type " + value.tagKind());
  target = value.toBool();
}

void Fields::loaded(const char* name, const at::IValue& value, std::string& target) const {
  if (!value.isString()) refuse(name, "is no string, but of type " + value.tagKind());
  target = value.toStringRef();
}

void Fields::loaded(const char* name, const at::IValue& value, std::optional<double>& target) const {
  if (value.isNone()) {
    target.reset();
    return;
  }
  target = 0;
  loaded(name, value, *target);
}

void Fields::loaded(const char* name, const at::IValue& value, std::vector<double>& target) const {
  if (!value.isList()) refuse(name, "is no list, but of type " + value.tagKind());
  target.clear();
  for (const at::IValue& one : value.toListRef()) loaded(name, one, target.emplace_back());
}

void Fields::loaded(const char* name, const at::IValue& value, std::vector<std::int64_t>& target) const {
  if (!value.isList()) refuse(name, "is no list, but of type " + value.tagKind());
  target.clear();
  for (const at::IValue& one : value.toListRef()) loaded(name, one, target.emplace_back());
}

void Fields::loaded(const char* name, const at::IValue& value, std::map<std::int64_t, std::int64_t>& target) const {
  if (!value.isGenericDict()) refuse(name, "is no dictionary, but of type " + value.tagKind());
  target.clear();
  for (const auto& entry : value.toGenericDict()) {
    std::int64_t key = 0;
    // What JSON made of Python's whole numbers.
    const std::string text = entry.key().isString() ? entry.key().toStringRef() : "";
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), key);
    if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
      loaded(name, entry.key(), key);
    }
    loaded(name, entry.value(), target[key]);
  }
}

}  // namespace tandem::optim
