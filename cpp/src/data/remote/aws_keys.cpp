#include "data/remote/aws_keys.h"

#include <cstdlib>
#include <fstream>

#include "tandem/error.h"

namespace tandem::remote {
namespace {

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// An INI file: a line [NAME] begins a profile, those of its keys are NAME = VALUE.
AwsKeys keys_of_file(const std::string& path, const std::string& profile) {
  const std::string where = path + ", which AWS_SHARED_CREDENTIALS_FILE names,";
  std::ifstream file(path);
  if (!file) throw Error(ErrorCode::kIo, where + " cannot be read");
  AwsKeys keys;
  bool is_inside = false;
  for (std::string line; std::getline(file, line);) {
    line = trimmed(line);
    if (line.starts_with('[')) is_inside = line.ends_with(']') && trimmed(line.substr(1, line.size() - 2)) == profile;
    const auto equals = line.find('=');
    if (!is_inside || equals == std::string::npos || line.starts_with('#') || line.starts_with(';')) continue;
    const std::string name = trimmed(line.substr(0, equals)), value = trimmed(line.substr(equals + 1));
    if (name == "aws_access_key_id") keys.access_key = value;
    if (name == "aws_secret_access_key") keys.secret_key = value;
    if (name == "aws_session_token") keys.session_token = value;
  }
  if (file.bad()) throw Error(ErrorCode::kIo, where + " cannot be read");
  if (keys.access_key.empty() || keys.secret_key.empty()) {
    throw Error(ErrorCode::kInvalidArgument, where +
                                                 " has no aws_access_key_id and aws_secret_access_key of profile '" +
                                                 profile + "'; set AWS_PROFILE, or the keys in the environment");
  }
  return keys;
}

}  // namespace

std::string from_environment(std::initializer_list<const char*> names, const std::string& otherwise) {
  for (const char* name : names) {
    if (const char* value = std::getenv(name); value && *value) return value;
  }
  return otherwise;
}

AwsKeys read_aws_keys() {
  AwsKeys keys{from_environment({"AWS_ACCESS_KEY_ID"}), from_environment({"AWS_SECRET_ACCESS_KEY"}),
               from_environment({"AWS_SESSION_TOKEN"})};
  if (keys.access_key.empty()) {
    const std::string file = from_environment({"AWS_SHARED_CREDENTIALS_FILE"});
    return file.empty() ? AwsKeys() : keys_of_file(file, from_environment({"AWS_PROFILE"}, "default"));
  }
  if (keys.secret_key.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "AWS_ACCESS_KEY_ID is set without AWS_SECRET_ACCESS_KEY");
  }
  return keys;
}

}  // namespace tandem::remote
