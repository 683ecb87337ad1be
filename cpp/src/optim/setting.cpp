#include "optim/setting.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include "options.h"
#include "tandem/error.h"

namespace tandem::optim {
namespace {

std::string shown(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

at::IValue value_of(const Setting& setting) {
  switch (setting.kind) {
    case Kind::kFlag:
      return setting.value != 0;
    case Kind::kWhole:
      return static_cast<std::int64_t>(setting.value);
    case Kind::kUnset:
      return std::isnan(setting.value) ? at::IValue() : at::IValue(setting.value);
    case Kind::kChoice:
      return setting.value < 0 ? at::IValue() : at::IValue(setting.names[static_cast<std::size_t>(setting.value)]);
    case Kind::kNumber:
      break;
  }
  return setting.value;
}

void read(Options& reader, Setting& setting) {
  switch (setting.kind) {
    case Kind::kFlag: {
      bool value = setting.value != 0;
      reader.read(setting.name, value);
      setting.value = value;
      return;
    }
    case Kind::kWhole: {
      auto value = static_cast<std::int64_t>(setting.value);
      reader.read(setting.name, value);
      setting.value = static_cast<double>(value);
      return;
    }
    case Kind::kUnset: {
      std::optional<double> value;
      if (!std::isnan(setting.value)) value = setting.value;
      reader.read(setting.name, value);
      if (value && std::isnan(*value)) reader.refuse(setting.name, "is nan; " + setting.range.text() + ", or none");
      setting.value = value.value_or(std::nan(""));
      return;
    }
    case Kind::kChoice: {
      std::optional<std::string> value;
      if (setting.value >= 0) value = setting.names[static_cast<std::size_t>(setting.value)];
      reader.read(setting.name, value);
      const auto found = value ? std::find(setting.names.begin(), setting.names.end(), *value) : setting.names.end();
      if (value && found == setting.names.end()) {
        std::string known;
        for (const char* name : setting.names) known += (known.empty() ? "'" : ", '") + std::string(name) + "'";
        reader.refuse(setting.name, "is '" + *value + "'; it can be none, " + known);
      }
      setting.value = value ? static_cast<double>(found - setting.names.begin()) : -1;
      return;
    }
    case Kind::kNumber:
      reader.read(setting.name, setting.value);
  }
}

}  // namespace

bool Range::has(double value) const {
  return std::isfinite(value) && (open_below ? value > least : value >= least) &&
         (open_above ? value < most : value <= most);
}

std::string Range::text() const {
  std::string text;
  if (std::isfinite(least)) text = (open_below ? "more than " : "at least ") + shown(least);
  if (std::isfinite(most)) {
    text += (text.empty() ? "" : " and ") + std::string(open_above ? "less than " : "at most ") + shown(most);
  }
  return "it must be " + (text.empty() ? "finite" : text);
}

Setting* Settings::find(const std::string& name) {
  const auto found =
      std::find_if(settings_.begin(), settings_.end(), [&](const Setting& setting) { return name == setting.name; });
  return found == settings_.end() ? nullptr : &*found;
}

const Setting* Settings::find(const std::string& name) const {
  return const_cast<Settings*>(this)->find(name);
}

std::vector<std::string> Settings::names() const {
  std::vector<std::string> names;
  for (const Setting& setting : settings_) {
    const auto has = [&](const ListOption& list) {
      return std::any_of(list.elements.begin(), list.elements.end(),
                         [&](const char* element) { return std::string(element) == setting.name; });
    };
    const auto list = std::find_if(lists_.begin(), lists_.end(), has);
    const std::string name = list == lists_.end() ? setting.name : list->name;
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

bool Settings::has(const std::string& name) const {
  return find(name) ||
         std::any_of(lists_.begin(), lists_.end(), [&](const ListOption& list) { return name == list.name; });
}

double Settings::get(const char* name) const {
  return find(name)->value;
}

at::IValue Settings::get(const std::string& owner, const std::string& name) const {
  if (const Setting* setting = find(name)) return value_of(*setting);
  std::string known;
  for (const Setting& setting : settings_) known += (known.empty() ? "" : ", ") + std::string(setting.name);
  for (const ListOption& list : lists_) {
    known += ", " + std::string(list.name);
    if (name != list.name) continue;
    std::vector<double> numbers;
    std::vector<at::IValue> values;
    for (const char* element : list.elements) {
      numbers.push_back(find(element)->value);
      values.push_back(value_of(*find(element)));
    }
    const bool plain = std::none_of(numbers.begin(), numbers.end(), [](double number) { return std::isnan(number); });
    return plain ? at::IValue(numbers) : at::IValue(c10::ivalue::Tuple::create(std::move(values)));
  }
  throw Error(ErrorCode::kNotFound, owner + " has no option '" + name + "'; it has " + known);
}

void Settings::change(const std::string& owner, const std::vector<Option>& options, bool later) {
  Options reader(owner, options);
  for (Setting& setting : settings_) read(reader, setting);
  for (const ListOption& list : lists_) {
    std::vector<std::optional<double>> values;
    reader.read(list.name, values);
    if (values.empty()) continue;
    if (values.size() != list.elements.size()) {
      reader.refuse(list.name, list.elements.size() == 2 ? "must be two numbers" : "must be three numbers");
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      Setting& element = *find(list.elements[i]);
      if (!values[i] && element.kind != Kind::kUnset) reader.refuse(list.name, "must be numbers, without none");
      element.value = values[i].value_or(std::nan(""));
    }
  }
  reader.finish();
  for (const Setting& setting : settings_) {
    if (setting.kind == Kind::kFlag || setting.kind == Kind::kChoice) continue;
    if (setting.kind == Kind::kUnset && std::isnan(setting.value)) continue;
    if (later && setting.value == 0 && std::string(setting.name) == "lr") continue;
    if (!setting.range.has(setting.value)) {
      reader.refuse(setting.name, "is " + shown(setting.value) + "; " + setting.range.text());
    }
  }
}

}  // namespace tandem::optim
