// What is asked of which server for a path.
#pragma once

#include <string>
#include <vector>

#include "data/remote/aws_keys.h"
#include "tandem/remote_options.h"

namespace tandem::remote {

struct RemoteUrl {
  std::string shown;  // as shown_path() has it
  std::string http;
  std::string region;                // of S3; "" otherwise
  AwsKeys keys;                      // of S3, where requests are signed: those of now
  std::vector<std::string> secrets;  // parts of `http` that are in no message
};

// Throws Error(kInvalidArgument) for an s3:// without bucket or key.
RemoteUrl resolve(const std::string& path, const RemoteOptions& options);

}  // namespace tandem::remote
