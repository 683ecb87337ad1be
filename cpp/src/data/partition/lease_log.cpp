#include "tandem/lease_log.h"

#include <limits>

#include "data/json_options.h"
#include "invalid.h"
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

CommittedStep::Part part_of(const Json& element, const std::string& where) {
  if (!element.is_array() || element.size() != 3) invalid(where + " is not [part, rank, samples]");
  std::int64_t numbers[3];
  for (std::size_t i = 0; i < 3; ++i) {
    if (!element[i].is_number_integer()) invalid(where + " is not [part, rank, samples]");
    numbers[i] = element[i].get<std::int64_t>();
  }
  return {small(numbers[0], where), small(numbers[1], where), natural(numbers[2], where)};
}

// What a sample's reader said may be of any bytes, and cut anywhere.
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
  return dump({{"generation", generation},
               {"epoch", epoch},
               {"step", step},
               {"parts", std::move(array)},
               {"left_out", to_json(left_out)}});
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
  object.finish();
  return step;
}

}  // namespace tandem
