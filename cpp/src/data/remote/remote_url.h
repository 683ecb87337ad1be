// What is asked of which server for a path.
#pragma once

#include <string>

#include "tandem/remote_options.h"

namespace tandem::remote {

struct RemoteUrl {
  std::string shown;  // as the user wrote it
  std::string http;
  // Of S3, where requests are signed; all empty otherwise.
  std::string region, access_key, secret_key, session_token;
};

// http://, https:// or s3://.
bool is_remote(const std::string& path);

// Throws Error(kInvalidArgument) for an s3:// without bucket or key.
RemoteUrl resolve(const std::string& path, const RemoteOptions& options);

}  // namespace tandem::remote
