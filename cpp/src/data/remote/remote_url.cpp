#include "data/remote/remote_url.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "tandem/error.h"

namespace tandem::remote {
namespace {

constexpr std::string_view kS3 = "s3://";

// URLs' schemes have no case.
bool has_scheme(const std::string& url, std::string_view scheme) {
  return url.size() >= scheme.size() && std::ranges::equal(url.substr(0, scheme.size()), scheme, {}, [](char c) {
           return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
         });
}

// Where parts of a URL lie in its text; of s3://, where a key may have any character, no query is one.
struct UrlParts {
  std::size_t user, host, query;  // as far as there is one of each: user == host, query == size()
};

UrlParts parts_of(const std::string& url) {
  const std::size_t scheme = url.find("://"), user = scheme == std::string::npos ? 0 : scheme + 3;
  const std::size_t end = std::min(url.find_first_of("/?#", user), url.size());
  const std::size_t at = url.substr(user, end - user).rfind('@');
  const std::size_t query = has_scheme(url, kS3) ? url.size() : std::min(url.find_first_of("?#", end), url.size());
  return {user, at == std::string::npos ? user : user + at + 1, query};
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

bool is_remote(const std::string& path) {
  return has_scheme(path, "http://") || has_scheme(path, "https://") || has_scheme(path, kS3);
}

std::string shown_path(const std::string& path) {
  if (!is_remote(path)) return path;
  const UrlParts parts = parts_of(path);
  return path.substr(0, parts.user) + path.substr(parts.host, parts.query - parts.host) +
         (parts.query < path.size() ? "?..." : "");
}

RemoteUrl resolve(const std::string& path, const RemoteOptions& options) {
  RemoteUrl url;
  if (has_scheme(path, kS3)) {
    url = resolve_s3(path, options);
  } else {
    url.shown = shown_path(path);
    url.http = path;
  }
  const UrlParts parts = parts_of(url.http);
  for (std::string secret : {url.http.substr(parts.user, parts.host - parts.user), url.http.substr(parts.query)}) {
    if (secret.size() > 1) url.secrets.push_back(std::move(secret));
  }
  return url;
}

}  // namespace tandem::remote
