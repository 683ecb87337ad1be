// Prints what each module of the registry takes, gives and has, as JSON: a line a module.
#include <iostream>
#include <nlohmann/json.hpp>

#include "tandem/nn.h"

namespace {

using Json = nlohmann::ordered_json;

Json value(const at::IValue& value) {
  if (value.isNone()) return nullptr;
  if (value.isBool()) return value.toBool();
  if (value.isInt()) return value.toInt();
  if (value.isDouble()) return value.toDouble();
  if (value.isIntList()) return value.toIntVector();
  if (value.isDoubleList()) return value.toDoubleVector();
  return value.toStringRef();
}

Json type(const tandem::nn::ValueDescription& value) {
  if (value.type != "tuple") return value.type;
  Json parts = Json::array();
  for (const auto& part : value.parts) parts.push_back(type(part));
  return parts;
}

// Of its own: those of parts are no fields.
Json own(const std::vector<std::string>& names) {
  Json own = Json::array();
  for (const std::string& name : names) {
    if (name.find('.') == std::string::npos) own.push_back(name);
  }
  return own;
}

Json module(const tandem::nn::ModuleDescription& described) {
  Json options = Json::array(), arguments = Json::array(), results = Json::array();
  for (const auto& one : described.options) {
    Json option{{"name", one.name}, {"type", one.type}, {"required", one.required}};
    if (!one.required) option["default"] = value(one.initial);
    if (!one.choices.empty()) option["choices"] = one.choices;
    options.push_back(option);
  }
  for (const auto& one : described.arguments) {
    arguments.push_back({{"name", one.name}, {"type", type(one.value)}, {"required", one.required}});
  }
  for (const auto& one : described.results) results.push_back(type(one));
  return {{"type", described.type},
          {"options", options},
          {"arguments", arguments},
          {"results", results},
          {"parameters", own(described.parameters)},
          {"buffers", own(described.buffers)}};
}

}  // namespace

int main() {
  const char* before = "[\n";
  for (const std::string& type : tandem::nn::module_types()) {
    std::cout << before << module(tandem::nn::describe_module(type)).dump();
    before = ",\n";
  }
  std::cout << "\n]\n";
}
