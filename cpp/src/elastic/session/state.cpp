#include <torch/nn/module.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/invalid.h"
#include "base/json_document.h"
#include "elastic/session/ivalue_json.h"
#include "tandem/elastic.h"
#include "tandem/lr_scheduler.h"
#include "tandem/match_tensors.h"

namespace tandem::elastic {
namespace {

NamedTensors tensors_of(const torch::nn::Module& module) {
  NamedTensors tensors;
  for (const auto& item : module.named_parameters()) tensors.emplace_back(item.key(), item.value());
  for (const auto& item : module.named_buffers()) tensors.emplace_back(item.key(), item.value());
  return tensors;
}

// Those of a backward pass that came to no end.
void drop_gradients(const std::vector<at::Tensor>& parameters) {
  for (const at::Tensor& parameter : parameters) parameter.mutable_grad() = at::Tensor();
}

// What state() of an optimizer leaves out: its settings, and what schedulers keep with them.
std::string settings_of(const optim::Optimizer& optimizer) {
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  for (std::size_t group = 0; group < optimizer.group_count(); ++group) {
    nlohmann::ordered_json options = nlohmann::ordered_json::array();
    for (const std::string& name : optimizer.option_names()) {
      options.push_back({name, to_json(optimizer.get_option(group, name))});
    }
    nlohmann::ordered_json schedule = nlohmann::ordered_json::array();
    for (const auto& [name, value] : optimizer.schedule(group)) schedule.push_back({name, to_json(value)});
    groups.push_back({std::move(options), std::move(schedule)});
  }
  return groups.dump();
}

void load_settings(optim::Optimizer& optimizer, const std::string& text) {
  const auto groups = parse_json_document(text);
  if (groups.size() != optimizer.group_count()) {
    invalid("a commit has settings of " + std::to_string(groups.size()) + " groups of parameters; the optimizer here has " +
            std::to_string(optimizer.group_count()));
  }
  for (std::size_t group = 0; group < groups.size(); ++group) {
    std::vector<Option> options;
    for (const auto& option : groups[group][0]) options.push_back({option[0].get<std::string>(), from_json(option[1])});
    optimizer.set_options(group, options);
    auto& schedule = optimizer.schedule(group);
    schedule.clear();
    for (const auto& item : groups[group][1]) schedule[item[0].get<std::string>()] = from_json(item[1]).toDouble();
  }
}

// Text as it is; bytes that are none, such as a loader's state, by their digits.
nlohmann::ordered_json json_of(const std::string& value) {
  nlohmann::ordered_json json = value;
  try {
    json.dump();
    return json;
  } catch (const nlohmann::json::exception&) {  // no UTF-8
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  for (const char c : value) {
    digits += kDigits[static_cast<unsigned char>(c) >> 4];
    digits += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return {{"hex", digits}};
}

std::string text_of(const nlohmann::ordered_json& json) {
  if (json.is_string()) return json.get<std::string>();
  const auto digits = json.at("hex").get<std::string>();
  std::string value;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    value += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return value;
}

}  // namespace

State& State::tensors(const std::string& name, std::function<NamedTensors()> tensors) {
  sections_.push_back({name, tensors, [tensors](const NamedTensors& from) { load_tensors(tensors(), from); }});
  return *this;
}

State& State::module(const std::string& name, torch::nn::Module& module) {
  const auto tensors = [&module] { return tensors_of(module); };
  sections_.push_back({name, tensors, [&module, tensors](const NamedTensors& from) {
                         load_tensors(tensors(), from);
                         drop_gradients(module.parameters());
                       }});
  return *this;
}

State& State::optimizer(const std::string& name, optim::Optimizer& optimizer) {
  sections_.push_back({name, [&optimizer] { return optimizer.state(); },
                       [&optimizer](const NamedTensors& from) {
                         optimizer.load_state(from);
                         drop_gradients(optimizer.parameters());
                       }});
  return value(name + ".settings", [&optimizer] { return settings_of(optimizer); },
               [&optimizer](const std::string& text) { load_settings(optimizer, text); });
}

State& State::scheduler(const std::string& name, optim::LrScheduler& scheduler) {
  return value(name, [&scheduler] { return to_json(scheduler.state()).dump(); },
               [&scheduler](const std::string& text) {
                 scheduler.load_state(from_json(parse_json_document(text)).toGenericDict());
               });
}

State& State::value(const std::string& name, std::function<std::string()> save,
                    std::function<void(const std::string&)> load) {
  values_.push_back({name, std::move(save), std::move(load)});
  return *this;
}

State& State::value(const std::string& name, std::string& text) {
  return value(name, [&text] { return text; }, [&text](const std::string& from) { text = from; });
}

State& State::value(const std::string& name, std::int64_t& number) {
  return value(name, [&number] { return std::to_string(number); },
               [&number](const std::string& from) { number = std::stoll(from); });
}

State& State::value(const std::string& name, double& number) {
  return value(name, [&number] { return to_json(number).dump(); },
               [&number](const std::string& from) { number = from_json(parse_json_document(from)).toDouble(); });
}

CheckpointContent State::content() const {
  CheckpointContent content;
  for (const Section& section : sections_) {
    if (!content.replicated.emplace(section.name, section.tensors()).second) {
      invalid("the state has two parts called '" + section.name + "'");
    }
  }
  nlohmann::ordered_json values = nlohmann::ordered_json::object();
  for (const Value& value : values_) {
    if (values.contains(value.name)) invalid("the state has two values called '" + value.name + "'");
    append_member(values, value.name, json_of(value.save()));
  }
  content.values = values.dump();
  return content;
}

void State::load(const Checkpoint& checkpoint) const {
  const auto values = parse_json_document(checkpoint.values);
  for (const Section& section : sections_) {
    // A section without tensors, as of an optimizer that has not stepped, is in no file.
    const auto found = checkpoint.sections.find(section.name);
    section.load(found == checkpoint.sections.end() ? NamedTensors() : found->second);
  }
  for (const Value& value : values_) {
    if (!values.contains(value.name)) invalid("the state that was loaded has no value '" + value.name + "'");
    value.load(text_of(values.at(value.name)));
  }
}

}  // namespace tandem::elastic
