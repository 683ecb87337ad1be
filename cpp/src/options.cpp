#include "options.h"

#include <cctype>

namespace tandem {
namespace {

std::string in_words(const at::IValue& value) {
  if (value.isNone()) return "none";
  if (value.isInt()) return "the integer " + std::to_string(value.toInt());
  if (value.isDouble()) return "the number " + std::to_string(value.toDouble());
  if (value.isBool()) return value.toBool() ? "true" : "false";
  if (value.isString()) return "the string '" + value.toStringRef() + "'";
  if (value.isTensor()) return "a tensor";
  if (value.isIntList()) return "a list of integers";
  if (value.isDoubleList()) return "a list of numbers";
  return "of type " + value.tagKind();
}

}  // namespace

const at::IValue* Options::find(const char* name) {
  known_.emplace_back(name);
  const at::IValue* found = nullptr;
  for (std::size_t i = 0; i < given_.size(); ++i) {
    if (given_[i].name != name) continue;
    if (found) refuse(name, "is given twice");
    used_[i] = true;
    found = &given_[i].value;
  }
  return found;
}

void Options::finish() const {
  for (std::size_t i = 0; i < given_.size(); ++i) {
    if (used_[i]) continue;
    std::string known;
    for (const auto& name : known_) known += (known.empty() ? "" : ", ") + name;
    throw Error(ErrorCode::kNotFound, owner_ + " has no option '" + given_[i].name + "'; " +
                                          (known.empty() ? "it has none" : "it has " + known));
  }
}

void Options::refuse(const char* name, const std::string& why) const {
  throw Error(ErrorCode::kInvalidArgument, owner_ + ": option '" + name + "' " + why);
}

void Options::wrong_type(const char* name, const at::IValue& value, const std::string& expected) const {
  refuse(name, "must be " + expected + ", not " + in_words(value));
}

void Options::assign(const char* name, const at::IValue& value, bool& target) const {
  if (!value.isBool()) wrong_type(name, value, "true or false");
  target = value.toBool();
}

void Options::assign(const char* name, const at::IValue& value, std::int64_t& target) const {
  if (!value.isInt()) wrong_type(name, value, "an integer");
  target = value.toInt();
}

void Options::assign(const char* name, const at::IValue& value, int& target) const {
  std::int64_t wide = 0;
  assign(name, value, wide);
  if (wide < INT32_MIN || wide > INT32_MAX) refuse(name, "is " + std::to_string(wide) + ", out of range");
  target = static_cast<int>(wide);
}

void Options::assign(const char* name, const at::IValue& value, double& target) const {
  if (value.isInt()) {
    target = static_cast<double>(value.toInt());
  } else if (value.isDouble()) {
    target = value.toDouble();
  } else {
    wrong_type(name, value, "a number");
  }
}

void Options::assign(const char* name, const at::IValue& value, std::string& target) const {
  if (!value.isString()) wrong_type(name, value, "a string");
  target = value.toStringRef();
}

void Options::assign(const char* name, const at::IValue& value, at::Tensor& target) const {
  if (!value.isTensor() && !value.isNone()) wrong_type(name, value, "a tensor");
  target = value.isTensor() ? value.toTensor() : at::Tensor();
}

void Options::assign(const char* name, const at::IValue& value, at::ScalarType& target) const {
  if (!value.isInt()) wrong_type(name, value, "a dtype");
  target = value.toScalarType();
}

void Options::assign(const char* name, const at::IValue& value, at::Generator& target) const {
  if (!value.isGenerator()) wrong_type(name, value, "a generator of random numbers");
  target = value.toGenerator();
}

void Options::assign(const char* name, const at::IValue& value, std::vector<std::int64_t>& target) const {
  if (value.isInt()) {
    target = {value.toInt()};
  } else if (value.isIntList()) {
    target = value.toIntVector();
  } else {
    wrong_type(name, value, "an integer or a list of them");
  }
}

void Options::assign(const char* name, const at::IValue& value, std::vector<double>& target) const {
  if (value.isDoubleList()) {
    target = value.toDoubleVector();
  } else if (value.isIntList()) {
    const auto whole = value.toIntVector();
    target.assign(whole.begin(), whole.end());
  } else {
    target.resize(1);
    assign(name, value, target[0]);
  }
}

void Options::assign(const char* name, const at::IValue& value, std::vector<std::optional<double>>& target) const {
  if (value.isTuple()) {
    const auto& elements = value.toTupleRef().elements();
    target.resize(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) assign(name, elements[i], target[i]);
  } else {
    std::vector<double> numbers;
    assign(name, value, numbers);
    target.assign(numbers.begin(), numbers.end());
  }
}

std::string Options::plain(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::erase_if(text, [](char c) { return c == '_' || c == '-'; });
  return text;
}

}  // namespace tandem
