// How files on http://, https:// and s3:// are read.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace tandem {

// s3://BUCKET/KEY is signed with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN of the environment,
// where the first is not set with those of the file AWS_SHARED_CREDENTIALS_FILE, and without either not at all. What a
// service refuses is looked for again there, since keys expire.
struct RemoteOptions {
  // Where what was fetched is kept for later runs; "": TANDEM_CACHE_DIR, else $XDG_CACHE_HOME/tandem, else
  // ~/.cache/tandem. It may be shared by processes.
  std::string cache_folder;
  // Of all that lies there, whichever files it is of; of more than 16 processes, about. 0: nothing is kept. Unset:
  // TANDEM_CACHE_BYTES, else 10 GiB.
  std::optional<std::uint64_t> cache_bytes;
  // How often a request is made before its failure is an error; between them is a growing pause.
  int attempts = 6;
  // For one attempt's connection; and how long a reply may stand still, or bring less than `least_speed` bytes a
  // second, before the attempt has failed, in whole seconds, rounded up.
  std::chrono::milliseconds connect_timeout{15000};
  std::chrono::milliseconds stall_timeout{30000};
  std::int64_t least_speed = 1024;
  // Of a request with all its attempts and the pauses between them.
  std::chrono::milliseconds request_timeout{600000};
  // Of services like S3's: "http://minio:9000"; "": AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, else Amazon's.
  std::string s3_endpoint;
  // "": AWS_REGION, AWS_DEFAULT_REGION, else "us-east-1".
  std::string s3_region;
};

}  // namespace tandem
