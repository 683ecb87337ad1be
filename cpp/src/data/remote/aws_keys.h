// What requests to S3 are signed with.
#pragma once

#include <initializer_list>
#include <string>

namespace tandem::remote {

struct AwsKeys {
  std::string access_key, secret_key, session_token;  // all empty: requests are not signed

  bool operator==(const AwsKeys&) const = default;
};

// Those of now, for they expire, and others take their place: of the environment (AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN), else of the file that AWS_SHARED_CREDENTIALS_FILE names, of the profile
// that AWS_PROFILE does, or "default". Throws Error(kInvalidArgument) where one of a pair is missing, or the file has
// no such profile; Error(kIo) where it cannot be read.
AwsKeys read_aws_keys();

// The first of these that is set, and `otherwise` without any.
std::string from_environment(std::initializer_list<const char*> names, const std::string& otherwise = "");

}  // namespace tandem::remote
