#include "launch/doctor/finding.h"

#include <stdexcept>
#include <utility>

namespace tandem::doctor {

const char* name_of(Verdict verdict) {
  return verdict == Verdict::kOk ? "ok" : verdict == Verdict::kWarning ? "warning" : "problem";
}

Finding ok(std::string topic, std::string text) {
  return {std::move(topic), Verdict::kOk, std::move(text), ""};
}

Finding warning(std::string topic, std::string text, std::string advice) {
  return {std::move(topic), Verdict::kWarning, std::move(text), std::move(advice)};
}

Finding problem(std::string topic, std::string text, std::string advice) {
  return {std::move(topic), Verdict::kProblem, std::move(text), std::move(advice)};
}

Count count(const std::vector<Finding>& findings) {
  Count counted;
  for (const Finding& one : findings) {
    counted.problems += one.verdict == Verdict::kProblem;
    counted.warnings += one.verdict == Verdict::kWarning;
  }
  return counted;
}

std::string describe(const Count& counted) {
  std::string text;
  for (const auto& [number, what] : {std::pair(counted.problems, " problem"), {counted.warnings, " warning"}}) {
    if (number > 0) text += (text.empty() ? "" : ", ") + std::to_string(number) + what + (number == 1 ? "" : "s");
  }
  return text.empty() ? "all is well" : text;
}

void to_json(nlohmann::json& json, const Finding& finding) {
  json = {{"topic", finding.topic}, {"verdict", name_of(finding.verdict)}, {"text", finding.text}};
  if (!finding.advice.empty()) json["advice"] = finding.advice;
}

void from_json(const nlohmann::json& json, Finding& finding) {
  finding.topic = json.at("topic").get<std::string>();
  finding.text = json.at("text").get<std::string>();
  finding.advice = json.value("advice", "");
  const auto verdict = json.at("verdict").get<std::string>();
  for (const Verdict one : {Verdict::kOk, Verdict::kWarning, Verdict::kProblem}) {
    if (verdict != name_of(one)) continue;
    finding.verdict = one;
    return;
  }
  throw std::invalid_argument("'" + verdict + "' is no verdict");
}

void to_json(nlohmann::json& json, const Report& report) {
  json = {{"findings", report.findings}, {"facts", report.facts}};
}

void from_json(const nlohmann::json& json, Report& report) {
  json.at("findings").get_to(report.findings);
  json.at("facts").get_to(report.facts);
}

}  // namespace tandem::doctor
