#include "parameter_server/trainers.h"

#include <algorithm>

#include "base/invalid.h"

namespace tandem::parameter_server {

std::string Mode::text() const {
  return (synchronous ? std::string("synchronous") : "asynchronous with staleness " + std::to_string(staleness)) + ", " +
         std::to_string(trainers) + " trainers, lost ones " + (lost_ones_leave ? "leave" : "fail all");
}

std::int64_t Trainers::slowest() const {
  std::int64_t least = step_;
  bool any = false;
  for (const auto& [name, clock] : clocks_) {
    least = any ? std::min(least, clock) : clock;
    any = true;
  }
  return least;
}

std::int64_t Trainers::join(const std::string& name, std::optional<std::int64_t> first) {
  if (clocks_.contains(name)) invalid("trainer '" + name + "' takes part already");
  const bool decides = !first;
  if (!first) first = mode_.synchronous ? (have_all_joined() ? step_ + 1 : 0) : slowest();
  if (*first < 0) invalid("trainer '" + name + "' would begin with step " + std::to_string(*first));
  clocks_.emplace(name, *first);
  if (decides) holds_.insert(name);
  // Late ones begin with step 1 or more: so all servers count the same ones as the first, in whatever order they come.
  if ((!mode_.synchronous || *first == 0) && ++joined_ <= mode_.trainers) required_.insert(name);
  return *first;
}

void Trainers::admit(const std::string& name) {
  holds_.erase(name);
}

bool Trainers::remove(const std::string& name) {
  if (!mode_.synchronous) step_ = slowest();
  pushed_.erase(name);
  holds_.erase(name);
  required_.erase(name);
  return clocks_.erase(name) > 0;
}

std::int64_t Trainers::clock_of(const std::string& name) const {
  const auto found = clocks_.find(name);
  if (found != clocks_.end()) return found->second;
  throw Error(ErrorCode::kNotFound,
              "trainer '" + name + "' takes no part here: it has not joined, has left, or was taken for lost");
}

void Trainers::check_push(const std::string& name, std::int64_t step) const {
  const std::int64_t clock = clock_of(name);
  if (step != clock || !may_go_on(name)) {
    invalid("trainer '" + name + "' pushed step " + std::to_string(step) + ", where " +
            (step != clock ? "its next is " + std::to_string(clock) : "it has to wait for others first"));
  }
}

void Trainers::count_push(const std::string& name) {
  const auto found = clocks_.find(name);
  if (found == clocks_.end()) return;
  ++found->second;
  pushed_.insert(name);
}

bool Trainers::is_complete() const {
  return have_all_joined() && holds_.empty() && !clocks_.empty() &&
         std::ranges::all_of(clocks_, [this](const auto& one) { return one.second > step_; });
}

// Another server may refuse it, and then waits for it for ever: who has gone on here would not hear of that.
bool Trainers::is_any_half_joined() const {
  return std::ranges::any_of(holds_, [this](const std::string& name) { return is_half_joined(name); });
}

bool Trainers::may_go_on(const std::string& name) const {
  const std::int64_t clock = clock_of(name);
  if (!have_all_joined() || is_any_half_joined()) return false;
  return mode_.synchronous ? clock == step_ : clock - slowest() <= mode_.staleness;
}

std::vector<std::string> Trainers::missing_for(const std::string& name) const {
  const std::int64_t own = clock_of(name);
  std::vector<std::string> missing;
  for (const auto& [other, clock] : clocks_) {
    const bool holds_up = is_half_joined(other) || (mode_.synchronous ? clock <= step_ || holds_.contains(other)
                                                                      : own - clock > mode_.staleness);
    if (other != name && holds_up) missing.push_back(other);
  }
  return missing;
}

std::int64_t Trainers::ahead(const std::string& name) const {
  return clock_of(name) - slowest();
}

std::vector<std::string> Trainers::names() const {
  std::vector<std::string> names;
  for (const auto& [name, clock] : clocks_) names.push_back(name);
  return names;
}

}  // namespace tandem::parameter_server
