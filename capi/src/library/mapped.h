// Which copies of a library this process has mapped.
#pragma once

#include <regex>
#include <string>
#include <vector>

namespace tandem::loader {

// Resolved, absolute paths of the mapped libraries whose file names match, in the order they were mapped, each once.
std::vector<std::string> mapped(const std::regex& name);

// The path with links resolved; as it is when that cannot be told.
std::string resolved(const std::string& path);

// Links aside, one file: the dynamic linker maps such a file once, whatever its name.
bool same_file(const std::string& a, const std::string& b);

}  // namespace tandem::loader
