// Paths and URLs in messages, which end in logs that others read.
#pragma once

#include <cstddef>
#include <string>

namespace tandem {

// http://, https:// or s3://, in letters of either case.
bool is_remote(const std::string& path);

// A path for messages: of a URL without user and password, and with "?..." for its query, which may be a signature that
// lets whoever has it in. Where it cannot be told how far user and password go, all up to the last '@' is "...", or all
// of it.
std::string shown_path(const std::string& path);

// Where parts of a URL lie in its text, as far as there is one of each: user == host, query == size(). Of s3://, where
// a key may have any character, no query is one.
struct UrlParts {
  std::size_t user, host, query;
  bool clear;  // whether `host` begins with what is one, so that nothing behind it is of the password
};
UrlParts url_parts(const std::string& url);

}  // namespace tandem
