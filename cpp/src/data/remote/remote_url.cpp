#include "data/remote/remote_url.h"

#include <cstdlib>

#include "tandem/error.h"

namespace tandem::remote {
namespace {

constexpr const char* kS3 = "s3://";

// The first of these that is set, and `otherwise` without any.
std::string from_environment(std::initializer_list<const char*> names, const std::string& otherwise = "") {
  for (const char* name : names) {
    if (const char* value = std::getenv(name); value && *value) return value;
  }
  return otherwise;
}

// Each byte but the unreserved ones, and slashes, as %XX.
std::string encode(const std::string& key) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte == '-' ||
        byte == '_' || byte == '.' || byte == '~' || byte == '/') {
      encoded.push_back(c);
    } else {
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

RemoteUrl resolve_s3(const std::string& path, const RemoteOptions& options) {
  const std::size_t bucket_begin = std::string(kS3).size(), slash = path.find('/', bucket_begin);
  if (slash == std::string::npos || slash == bucket_begin || slash + 1 == path.size()) {
    throw Error(ErrorCode::kInvalidArgument, path + " is no s3://BUCKET/KEY");
  }
  const std::string bucket = path.substr(bucket_begin, slash - bucket_begin), key = encode(path.substr(slash + 1));
  RemoteUrl url;
  url.shown = path;
  url.region = options.s3_region.empty() ? from_environment({"AWS_REGION", "AWS_DEFAULT_REGION"}, "us-east-1")
                                         : options.s3_region;
  std::string endpoint =
      options.s3_endpoint.empty() ? from_environment({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}) : options.s3_endpoint;
  while (endpoint.ends_with('/')) endpoint.pop_back();
  if (endpoint.empty()) {
    // A name with dots fits no certificate as a host's.
    url.http = bucket.find('.') == std::string::npos
                   ? "https://" + bucket + ".s3." + url.region + ".amazonaws.com/" + key
                   : "https://s3." + url.region + ".amazonaws.com/" + bucket + "/" + key;
  } else {
    url.http = endpoint + "/" + bucket + "/" + key;
  }
  url.access_key = from_environment({"AWS_ACCESS_KEY_ID"});
  url.secret_key = from_environment({"AWS_SECRET_ACCESS_KEY"});
  url.session_token = from_environment({"AWS_SESSION_TOKEN"});
  if (!url.access_key.empty() && url.secret_key.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "AWS_ACCESS_KEY_ID is set without AWS_SECRET_ACCESS_KEY (to read " + path + ")");
  }
  return url;
}

}  // namespace

bool is_remote(const std::string& path) {
  return path.starts_with("http://") || path.starts_with("https://") || path.starts_with(kS3);
}

RemoteUrl resolve(const std::string& path, const RemoteOptions& options) {
  if (path.starts_with(kS3)) return resolve_s3(path, options);
  RemoteUrl url;
  url.shown = url.http = path;
  return url;
}

}  // namespace tandem::remote
