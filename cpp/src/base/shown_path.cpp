#include "base/shown_path.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace tandem {
namespace {

constexpr auto kNone = std::string_view::npos;

// URLs' schemes have no case.
bool begins(std::string_view url, std::string_view scheme) {
  return url.size() >= scheme.size() && std::ranges::equal(url.substr(0, scheme.size()), scheme, {}, [](char c) {
           return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
         });
}

// Behind "https:" and any slashes, or the "://" of a scheme that Tandem does not read; 0 for what is no URL.
std::size_t end_of_scheme(std::string_view path) {
  for (const std::string_view scheme : {"http:", "https:"}) {
    if (begins(path, scheme)) return scheme.size() + (path.substr(scheme.size()).starts_with("//") ? 2 : 0);
  }
  const auto end = path.find("://");
  const auto in_scheme = [](unsigned char c) { return std::isalnum(c) || c == '+' || c == '-' || c == '.'; };
  return end == kNone || end == 0 || !std::ranges::all_of(path.substr(0, end), in_scheme) ? 0 : end + 3;
}

// NAME, NAME:80, [::1] or [::1]:80.
bool is_host(std::string_view text) {
  const auto in_name = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '.' || c == '_'; };
  const auto in_address = [](unsigned char c) { return std::isxdigit(c) || c == ':' || c == '.'; };
  const auto is_digit = [](unsigned char c) { return std::isdigit(c); };
  const bool address = text.starts_with('[');
  const std::size_t end = address ? text.find(']') : std::min(text.find(':'), text.size());
  if (end == kNone || end == 0) return false;
  const std::string_view name = text.substr(address, end - address), rest = text.substr(end + address);
  if (address ? !std::ranges::all_of(name, in_address) : !std::ranges::all_of(name, in_name)) return false;
  return rest.empty() || (rest[0] == ':' && std::ranges::all_of(rest.substr(1), is_digit));
}

}  // namespace

bool is_remote(const std::string& path) {
  return begins(path, "http://") || begins(path, "https://") || begins(path, "s3://");
}

UrlParts url_parts(const std::string& url) {
  const std::string_view text = url;
  const std::size_t user = end_of_scheme(text), end = std::min(text.find_first_of("/?#", user), text.size());
  const std::size_t query = begins(text, "s3://") ? text.size() : std::min(text.find_first_of("?#", end), text.size());
  const std::size_t at = text.substr(user, end - user).rfind('@');
  const std::size_t host = at == kNone ? user : user + at + 1;
  const std::string_view named = text.substr(host, end - host);
  const bool in_path = text.substr(end, query - end).find('@') != kNone, in_query = text.find('@', query) != kNone;
  // A password may have slashes and question marks, which should be encoded: "user:1/x@host" looks like a port.
  const bool clear = is_host(named) && !(in_path && named.find(':') != kNone) && !(in_query && end == query);
  if (clear || (at == kNone && !in_path && !in_query)) return {user, host, query, clear};
  if (in_query) return {user, text.size(), text.size(), false};
  return {user, text.substr(0, query).rfind('@') + 1, query, false};
}

std::string shown_path(const std::string& path) {
  if (path.starts_with('@')) return "@" + shown_path(path.substr(1));  // a list of files
  if (end_of_scheme(path) == 0) return path;
  const UrlParts parts = url_parts(path);
  return path.substr(0, parts.user) + (parts.clear || parts.user == parts.host ? "" : "...") +
         path.substr(parts.host, parts.query - parts.host) + (parts.query < path.size() ? "?..." : "");
}

}  // namespace tandem
