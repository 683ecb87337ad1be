#include "checkpoint/ranks.h"

#include <c10/util/Exception.h>

#include <new>
#include <string_view>

#include "tandem/process_group.h"

namespace tandem::checkpoint {
namespace {

// A letter, then a failure's code in decimal and a space, then the text.
constexpr char kWell = '+', kFailed = '-';

std::string format(const Outcome& outcome) {
  if (!outcome.failed) return kWell + outcome.result;
  return kFailed + std::to_string(static_cast<int>(*outcome.failed)) + ' ' + outcome.result;
}

Outcome parse(const std::string& bytes) {
  if (bytes.starts_with(kWell)) return {bytes.substr(1)};
  const std::size_t space = bytes.find(' ');
  if (!bytes.starts_with(kFailed) || space == std::string::npos) {
    return {"a rank told nothing of its part; do all ranks run the same version of Tandem?", ErrorCode::kInternal};
  }
  return {bytes.substr(space + 1), static_cast<ErrorCode>(std::stoi(bytes.substr(1, space - 1)))};
}

}  // namespace

Outcome outcome_of(const std::function<std::string()>& part) {
  try {
    return {part()};
  } catch (const Error& error) {
    return {error.what(), error.code()};
  } catch (const c10::Error& error) {
    const bool memory =
        std::string_view(error.what_without_backtrace()).find("not enough memory") != std::string_view::npos;
    return {error.what_without_backtrace(), memory ? ErrorCode::kOutOfMemory : ErrorCode::kInternal};
  } catch (const std::bad_alloc&) {
    return {"there is not enough memory", ErrorCode::kOutOfMemory};
  } catch (const std::exception& error) {
    return {error.what(), ErrorCode::kInternal};
  } catch (...) {
    return {"it failed of something that is no std::exception", ErrorCode::kInternal};
  }
}

int Ranks::rank() const {
  return group_ ? group_->rank() : 0;
}

int Ranks::size() const {
  return group_ ? group_->size() : 1;
}

std::vector<Outcome> Ranks::tell(const Outcome& mine) const {
  if (!group_) return {mine};
  std::vector<Outcome> all;
  if (named_) group_->monitored_barrier();
  for (const std::string& bytes : group_->all_gather_bytes(format(mine))) all.push_back(parse(bytes));
  return all;
}

std::vector<std::string> Ranks::together(const std::function<std::string()>& part) const {
  auto all = tell(outcome_of(part));
  if (const auto failure = failure_of(all, rank())) throw *failure;
  std::vector<std::string> results;
  for (Outcome& each : all) results.push_back(std::move(each.result));
  return results;
}

std::optional<Error> failure_of(const std::vector<Outcome>& outcomes, int rank) {
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].failed) continue;
    const std::string whose = static_cast<int>(i) == rank ? "" : "rank " + std::to_string(i) + ": ";
    return Error(*outcomes[i].failed, whose + outcomes[i].result);
  }
  return {};
}

}  // namespace tandem::checkpoint
