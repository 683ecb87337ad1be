// What `tandem doctor` finds on a machine.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tandem::doctor {

enum class Verdict { kOk, kWarning, kProblem };

// "ok", "warning" or "problem".
const char* name_of(Verdict verdict);

struct Finding {
  std::string topic;
  Verdict verdict = Verdict::kOk;
  std::string text;
  std::string advice;  // what to do; "" where there is nothing
};

Finding ok(std::string topic, std::string text);
Finding warning(std::string topic, std::string text, std::string advice);
Finding problem(std::string topic, std::string text, std::string advice);

// Of one machine.
struct Report {
  std::vector<Finding> findings;
  // What is compared between machines: "host", "identity", "tandem", "libtandem", "core", "libtorch", "build", "gpus".
  std::map<std::string, std::string> facts;
};

struct Count {
  int problems = 0, warnings = 0;
};
Count count(const std::vector<Finding>& findings);
// "2 problems, 1 warning"; "all is well" without either.
std::string describe(const Count& counted);

// Throw nlohmann::json::exception, or std::invalid_argument, for what is none.
void to_json(nlohmann::json& json, const Finding& finding);
void from_json(const nlohmann::json& json, Finding& finding);
void to_json(nlohmann::json& json, const Report& report);
void from_json(const nlohmann::json& json, Report& report);

}  // namespace tandem::doctor
