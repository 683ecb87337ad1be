// Which files a user means.
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "base/atomic_file.h"
#include "base/shown_path.h"
#include "data/data_file.h"
#include "data/recordio/v1_index.h"
#include "tandem/error.h"
#include "tandem/open_records.h"

namespace tandem {
namespace {

constexpr std::size_t kMostFiles = 10'000'000;

bool exists(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0;
}

// "{000..127}" at `begin` of a path, its end and its numbers.
struct Range {
  std::size_t end;
  std::uint64_t first, last;
  std::size_t width;  // digits with zeros before, 0 for as many as needed
};

std::optional<Range> range_at(const std::string& path, std::size_t begin) {
  const std::size_t dots = path.find("..", begin), close = path.find('}', begin);
  if (dots == std::string::npos || close == std::string::npos || dots > close) return {};
  const auto number = [&](std::size_t from, std::size_t to, std::uint64_t& value) {
    const auto parsed = std::from_chars(path.data() + from, path.data() + to, value);
    return parsed.ec == std::errc() && parsed.ptr == path.data() + to;
  };
  Range range{close + 1, 0, 0, 0};
  if (!number(begin + 1, dots, range.first) || !number(dots + 2, close, range.last)) return {};
  if (path[begin + 1] == '0' && dots - begin - 1 > 1) range.width = dots - begin - 1;
  return range;
}

void refuse_too_many(const std::string& path) {
  throw Error(ErrorCode::kInvalidArgument, shown_path(path) + " stands for more than ten million files");
}

void expand_ranges(const std::string& path, std::size_t from, std::vector<std::string>& out) {
  for (std::size_t at = path.find('{', from); at != std::string::npos; at = path.find('{', at + 1)) {
    const auto range = range_at(path, at);
    if (!range) continue;
    if (range->first > range->last) {
      throw Error(ErrorCode::kInvalidArgument, shown_path(path) + ": the range " + path.substr(at, range->end - at) +
                                                   " has its larger number first");
    }
    if (range->last - range->first >= kMostFiles) refuse_too_many(path);
    for (std::uint64_t i = range->first;; ++i) {
      std::string digits = std::to_string(i);
      if (digits.size() < range->width) digits.insert(0, range->width - digits.size(), '0');
      if (out.size() >= kMostFiles) refuse_too_many(path);
      expand_ranges(path.substr(0, at) + digits + path.substr(range->end), at + digits.size(), out);
      if (i == range->last) break;
    }
    return;
  }
  out.push_back(path);
}

void expand_pattern(const std::string& path, std::vector<std::string>& out) {
  // A name that is there is meant, whatever characters it has.
  if (is_remote(path) || exists(path) || path.find_first_of("*?[") == std::string::npos) {
    out.push_back(path);
    return;
  }
  glob_t found{};
  const int code = ::glob(path.c_str(), GLOB_NOSORT | GLOB_MARK, nullptr, &found);
  struct Free {
    glob_t& found;
    ~Free() { ::globfree(&found); }
  } free{found};
  if (code != 0 && code != GLOB_NOMATCH) throw Error(ErrorCode::kIo, "cannot look for files like " + path);
  const std::size_t before = out.size();
  for (std::size_t i = 0; code == 0 && i < found.gl_pathc; ++i) {
    const std::string name = found.gl_pathv[i];
    if (!name.ends_with('/')) out.push_back(name);  // folders are none
  }
  if (out.size() == before) throw Error(ErrorCode::kNotFound, "no file is like " + path);
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());  // in no locale's order
}

void expand_plain(const std::string& path, std::vector<std::string>& out) {
  if (path.empty()) throw Error(ErrorCode::kInvalidArgument, "the path of a file of records is empty");
  if (!is_remote(path) && exists(path)) {
    out.push_back(path);
    return;
  }
  std::vector<std::string> names;
  expand_ranges(path, 0, names);
  for (const std::string& name : names) expand_pattern(name, out);
}

void expand_list(const std::string& list, std::vector<std::string>& out) {
  const auto file = open_data_file(list);
  const Record whole = file->read(0, file->size());
  const auto slash = list.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : list.substr(0, slash + 1);
  std::string line;
  const auto add = [&] {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.pop_back();
    if (line.starts_with('@')) {
      throw Error(ErrorCode::kInvalidArgument,
                  file->name() + ": @" + shown_path(line.substr(1)) + " is a list too; a list has files only");
    }
    if (!line.empty() && line[0] != '#') {
      expand_plain(line[0] == '/' || is_remote(line) ? line : folder + line, out);
    }
    line.clear();
  };
  const std::size_t before = out.size();
  for (const std::uint8_t byte : whole.bytes) {
    if (byte == '\n') {
      add();
    } else if (byte == 0) {
      throw Error(ErrorCode::kInvalidArgument, file->name() + " is no list of files, but has bytes that are no text");
    } else {
      line.push_back(static_cast<char>(byte));
    }
  }
  add();
  if (out.size() == before) throw Error(ErrorCode::kInvalidArgument, "the list " + file->name() + " names no file");
}

// Patterns match FILE.idx as well, which a reader wrote beside FILE, and what another process is making of it. Patterns
// of a shell do so too, so that this looks at all files.
void leave_out_indexes(std::vector<std::string>& files) {
  constexpr std::string_view kEnding = ".idx";
  std::unordered_set<std::string_view> names;
  std::unordered_set<std::string> indexes;
  for (const std::string& file : files) {
    const auto target = target_of_temporary(file);
    const std::string_view index = target ? *target : file;
    if (!index.ends_with(kEnding) || is_remote(file)) continue;
    if (names.empty()) names.insert(files.begin(), files.end());
    if (!names.contains(index.substr(0, index.size() - kEnding.size()))) continue;
    if (target || recordio::is_index_file(file)) indexes.insert(file);
  }
  std::erase_if(files, [&](const std::string& file) { return indexes.contains(file); });
}

}  // namespace

std::vector<std::string> expand_record_paths(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (path.starts_with('@') && !exists(path)) {
      expand_list(path.substr(1), files);
    } else {
      expand_plain(path, files);
    }
  }
  if (files.empty()) throw Error(ErrorCode::kInvalidArgument, "no files of records are given");
  leave_out_indexes(files);
  return files;
}

}  // namespace tandem
