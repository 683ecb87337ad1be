// Settings of a rule, by name: what may be set, and to what.
#pragma once

#include <ATen/core/ivalue.h>

#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "tandem/option.h"

namespace tandem::optim {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An interval; an open end does not belong to it.
struct Range {
  double least = 0, most = kInfinity;
  bool open_below = false, open_above = false;

  bool has(double value) const;
  std::string text() const;  // "it must be at least 0 and less than 1"
};

enum class Kind {
  kNumber,
  kWhole,   // a whole number
  kFlag,    // 0 or 1
  kUnset,   // a number or none, which is NaN
  kChoice,  // one of some names, or none, which is -1
};

struct Setting {
  const char* name;
  double value;  // the default, then what was set
  Kind kind = Kind::kNumber;
  Range range = {};
  std::vector<const char*> names = {};  // of kChoice
};

inline Setting number(const char* name, double value, Range range = {}) {
  return {name, value, Kind::kNumber, range};
}
inline Setting any_number(const char* name, double value) {
  return number(name, value, {-kInfinity});
}
inline Setting flag(const char* name, bool value = false) {
  return {name, value ? 1.0 : 0.0, Kind::kFlag};
}
// A decay rate of a running mean.
inline Setting beta(const char* name, double value) {
  return number(name, value, {0, 1, false, true});
}

// An option that is a list of settings, each of which has a name of its own as well: "betas" of "beta1" and "beta2".
struct ListOption {
  const char* name;
  std::vector<const char*> elements;
};

// The settings of one group of parameters.
class Settings {
 public:
  Settings(std::vector<Setting> settings, std::vector<ListOption> lists)
      : settings_(std::move(settings)), lists_(std::move(lists)) {}

  double get(const char* name) const;
  at::IValue get(const std::string& owner, const std::string& name) const;
  bool has(const std::string& name) const;
  // As torch.optim names them: of a list's elements the list. These stand beside each other.
  std::vector<std::string> names() const;

  // Takes over `options`, which errors say are `owner`'s. A learning rate that changes later may become 0 wherever it
  // may not begin so, since a schedule may end there.
  void change(const std::string& owner, const std::vector<Option>& options, bool later);

 private:
  Setting* find(const std::string& name);
  const Setting* find(const std::string& name) const;

  std::vector<Setting> settings_;
  std::vector<ListOption> lists_;
};

}  // namespace tandem::optim
