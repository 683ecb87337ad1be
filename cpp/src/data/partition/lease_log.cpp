#include "tandem/lease_log.h"

#include <array>
#include <limits>

#include "base/invalid.h"
#include "data/json_options.h"
#include "tandem/error.h"

namespace tandem {
namespace {

using options::Json;
using options::Object;

std::int64_t natural(std::int64_t number, const std::string& where) {
  if (number < 0) invalid(where + " is " + std::to_string(number) + ", but must not be negative");
  return number;
}

std::int32_t small(std::int64_t number, const std::string& where) {
  if (number > std::numeric_limits<std::int32_t>::max())
    invalid(where + " is " + std::to_string(number) + ", too much");
  return static_cast<std::int32_t>(natural(number, where));
}

std::int64_t number(Object& object, const char* key) {
  object.require(key);
  return natural(object.integer(key, 0), object.where() + ": " + key);
}

const Json& array(Object& object, const char* key) {
  const Json& value = object.require(key);
  if (!value.is_array()) invalid(object.where() + ": " + key + " is no array");
  return value;
}

Json to_json(const std::vector<Quarantined>& items) {
  Json array = Json::array();
  for (const Quarantined& item : items) {
    array.push_back({{"sample", item.sample},
                     {"epoch", item.epoch},
                     {"step", item.step},
                     {"failures", item.failures},
                     {"reason", item.reason}});
  }
  return array;
}

std::vector<Quarantined> quarantine_of(const Json& array, const std::string& where) {
  if (!array.is_array()) invalid(where + " is no array");
  std::vector<Quarantined> items;
  for (const Json& element : array) {
    Object object(element, where + "[" + std::to_string(items.size()) + "]");
    Quarantined item;
    item.sample = number(object, "sample");
    item.epoch = number(object, "epoch");
    item.step = number(object, "step");
    item.failures = small(number(object, "failures"), object.where() + ": failures");
    const Json& reason = object.require("reason");
    if (!reason.is_string()) invalid(object.where() + ": reason is no text");
    item.reason = reason.get<std::string>();
    object.finish();
    items.push_back(std::move(item));
  }
  return items;
}

std::array<std::int64_t, 3> three_of(const Json& element, const std::string& where, const char* what) {
  std::array<std::int64_t, 3> numbers{};
  bool are_three = element.is_array() && element.size() == numbers.size();
  for (std::size_t i = 0; are_three && i < numbers.size(); ++i) {
    are_three = element[i].is_number_integer();
    if (are_three) numbers[i] = element[i].get<std::int64_t>();
  }
  if (!are_three) invalid(where + " is not " + what);
  return numbers;
}

CommittedStep::Part part_of(const Json& element, const std::string& where) {
  const auto [part, rank, samples] = three_of(element, where, "[part, rank, samples]");
  return {small(part, where), small(rank, where), natural(samples, where)};
}

CommittedStep::Skipped skipped_of(const Json& element, const std::string& where) {
  const auto [part, first, count] = three_of(element, where, "[part, first, count]");
  return {small(part, where), natural(first, where), natural(count, where)};
}

// The text of a sample's error may be of any bytes, and cut anywhere.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string quarantine_json(const std::vector<Quarantined>& items) {
  return dump(to_json(items));
}

std::vector<Quarantined> parse_quarantine(std::string_view json) {
  if (json.empty()) return {};
  return quarantine_of(options::parse_json(json, "the quarantine"), "the quarantine");
}

std::string CommittedStep::json() const {
  Json array = Json::array();
  for (const Part& part : parts) array.push_back({part.micro, part.rank, part.samples});
  Json line = {{"generation", generation},
               {"epoch", epoch},
               {"step", step},
               {"parts", std::move(array)},
               {"left_out", to_json(left_out)}};
  if (!skipped.empty()) {
    Json runs = Json::array();
    for (const Skipped& run : skipped) runs.push_back({run.micro, run.first, run.count});
    line["skipped"] = std::move(runs);
  }
  return dump(line);
}

CommittedStep CommittedStep::parse(std::string_view json) {
  const std::string where = "the record of a step";
  const Json parsed = options::parse_json(json, where);
  Object object(parsed, where);
  CommittedStep step;
  step.generation = number(object, "generation");
  step.epoch = number(object, "epoch");
  step.step = number(object, "step");
  for (const Json& element : array(object, "parts")) {
    step.parts.push_back(part_of(element, where + ": parts[" + std::to_string(step.parts.size()) + "]"));
  }
  step.left_out = quarantine_of(array(object, "left_out"), where + ": left_out");
  if (const Json* runs = object.find("skipped")) {
    if (!runs->is_array()) invalid(where + ": skipped is no array");
    for (const Json& element : *runs) {
      step.skipped.push_back(skipped_of(element, where + ": skipped[" + std::to_string(step.skipped.size()) + "]"));
    }
  }
  object.finish();
  return step;
}

}  // namespace tandem
