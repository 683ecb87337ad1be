#include "launch/error_file.h"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace tandem::launch {
namespace {

constexpr std::size_t kLongestMessage = 8192;

double number(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  return value.is_string() ? std::strtod(value.get<std::string>().c_str(), nullptr) : 0;
}

}  // namespace

std::optional<ErrorReport> read_error_file(const std::string& path) {
  std::ifstream file(path);
  struct stat info {};
  if (!file || stat(path.c_str(), &info) != 0) return std::nullopt;
  const nlohmann::json content = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!content.is_object() || !content.contains("message")) return std::nullopt;

  ErrorReport report;
  report.written_at = static_cast<double>(info.st_mtim.tv_sec) + 1e-9 * static_cast<double>(info.st_mtim.tv_nsec);
  report.timestamp = report.written_at;
  const nlohmann::json& message = content["message"];
  if (message.is_string()) {
    report.message = message.get<std::string>();
  } else if (message.is_object()) {
    if (message.contains("message") && message["message"].is_string()) {
      report.message = message["message"].get<std::string>();
    }
    if (message.contains("extraInfo") && message["extraInfo"].is_object() &&
        message["extraInfo"].contains("timestamp")) {
      const double timestamp = number(message["extraInfo"]["timestamp"]);
      if (timestamp > 0) report.timestamp = timestamp;
    }
  }
  if (report.message.size() > kLongestMessage) report.message.resize(kLongestMessage);
  return report;
}

}  // namespace tandem::launch
