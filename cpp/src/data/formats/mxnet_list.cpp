#include "data/formats/mxnet_list.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "data/data_file.h"
#include "tandem/error.h"

namespace tandem::formats {
namespace {

template <typename Number>
bool parse(const std::string& text, Number& number) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && !text.empty();
}

bool parse_line(const std::string& line, MxNetListed& listed) {
  std::vector<std::string> parts(1);
  for (const char c : line) {
    if (c == '\t') {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  double number = 0;  // im2rec writes 12.0 for some
  if (parts.size() < 3 || !parse(parts[0], number) || number < 0 || number > 1e15) return false;
  listed = {static_cast<std::uint64_t>(number), {}, parts.back()};
  for (std::size_t i = 1; i + 1 < parts.size(); ++i) {
    if (!parse(parts[i], listed.labels.emplace_back())) return false;
  }
  return !listed.path.empty();
}

// Whether a path below a folder stays there, by its names alone: links within the folder are its owner's.
bool stays_below(const std::string& path) {
  if (path.starts_with('/')) return false;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (path.compare(at, end - at, "..") == 0) return false;
    at = end + 1;
  }
  return true;
}

}  // namespace

std::vector<MxNetListed> read_mxnet_list(const std::string& path) {
  const auto file = open_data_file(path);
  const Record whole = file->read(0, file->size());
  std::istringstream lines(std::string(whole.bytes.begin(), whole.bytes.end()));
  std::vector<MxNetListed> listed;
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    const auto fail = [&](const std::string& what) {
      throw Error(ErrorCode::kInvalidArgument, file->name() + ": line " + std::to_string(number) + " " + what);
    };
    if (!parse_line(line, listed.emplace_back())) {
      fail("is no number, labels and path with tabs between, as .lst files have");
    }
    if (!stays_below(listed.back().path)) {
      fail("names " + listed.back().path +
           ", which leads out of the folder of the images; give a folder that has all of them with --root, and paths "
           "below it");
    }
  }
  return listed;
}

}  // namespace tandem::formats
