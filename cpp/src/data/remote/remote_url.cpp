#include "data/remote/remote_url.h"

#include <string_view>

#include "base/shown_path.h"
#include "tandem/error.h"

namespace tandem::remote {
namespace {

constexpr std::string_view kS3 = "s3://";

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
  const std::size_t bucket_begin = kS3.size(), slash = path.find('/', bucket_begin);
  if (slash == std::string::npos || slash == bucket_begin || slash + 1 == path.size()) {
    throw Error(ErrorCode::kInvalidArgument, shown_path(path) + " is no s3://BUCKET/KEY");
  }
  const std::string bucket = path.substr(bucket_begin, slash - bucket_begin), key = encode(path.substr(slash + 1));
  RemoteUrl url;
  url.shown = shown_path(path);
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
  try {
    url.keys = read_aws_keys();
  } catch (const Error& error) {
    throw Error(error.code(), std::string(error.what()) + " (to read " + url.shown + ")");
  }
  return url;
}

}  // namespace

RemoteUrl resolve(const std::string& path, const RemoteOptions& options) {
  RemoteUrl url;
  if (path[1] == '3') {  // of what is_remote() takes
    url = resolve_s3(path, options);
  } else {
    url.shown = shown_path(path);
    url.http = path;
  }
  const UrlParts parts = url_parts(url.http);
  for (std::string secret : {url.http.substr(parts.user, parts.host - parts.user), url.http.substr(parts.query)}) {
    if (secret.size() > 1) url.secrets.push_back(std::move(secret));
  }
  return url;
}

}  // namespace tandem::remote
