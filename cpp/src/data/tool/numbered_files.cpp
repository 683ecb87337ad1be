#include "data/tool/numbered_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "tandem/error.h"

namespace tandem::data_tool {
namespace {

constexpr std::size_t kDigits = 5;

// The same for all names of a file.
using FileId = std::pair<dev_t, ino_t>;

std::optional<FileId> file_id(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return {};
  return FileId{status.st_dev, status.st_ino};
}

}  // namespace

NumberedFiles::NumberedFiles(const std::string& path) : before_(path + "-") {
  const auto slash = path.rfind('/'), dot = path.rfind('.');
  if (dot == std::string::npos || dot == 0 || (slash != std::string::npos && dot <= slash + 1)) return;  // no ending
  before_ = path.substr(0, dot) + "-";
  after_ = path.substr(dot);
}

std::string NumberedFiles::path(std::int64_t number) const {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%0*" PRId64, static_cast<int>(kDigits), number);
  return before_ + digits + after_;
}

void NumberedFiles::refuse_inputs(std::int64_t count, const std::vector<std::string>& inputs) const {
  std::map<FileId, std::string> read;
  for (const std::string& input : inputs) {
    if (const auto id = file_id(input)) read.emplace(*id, input);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string written = path(i);
    const auto id = file_id(written);
    if (const auto input = id ? read.find(*id) : read.end(); input != read.end()) {
      throw Error(ErrorCode::kInvalidArgument,
                  written + " would be written over " + input->second + ", which is read; choose another output");
    }
  }
}

void NumberedFiles::refuse_more_than(std::int64_t count) const {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(before_).parent_path();
  const std::string before = before_.substr(before_.rfind('/') + 1);
  std::optional<std::string> first;
  std::error_code error;  // what is wrong with the folder is said when a file is created in it
  for (fs::directory_iterator at(folder.empty() ? "." : folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    if (name.size() != before.size() + kDigits + after_.size() || !name.starts_with(before) ||
        !name.ends_with(after_)) {
      continue;
    }
    const std::string digits = name.substr(before.size(), kDigits);
    if (!std::ranges::all_of(digits, [](unsigned char c) { return std::isdigit(c); })) continue;
    if (std::stoll(digits) >= count && (!first || name < *first)) first = name;
  }
  if (first) {
    throw Error(ErrorCode::kInvalidArgument, (folder / *first).string() + " is there already, and only " +
                                                 std::to_string(count) +
                                                 " files are to be written: who reads them all would have its records "
                                                 "as well; move it away, or choose another output");
  }
}

}  // namespace tandem::data_tool
