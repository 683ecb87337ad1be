#include "checkpoint/parts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tandem::checkpoint {
namespace {

struct Given {
  const FileRecord* file;
  const TensorRecord* tensor;
};

std::string shown(const std::vector<std::int64_t>& sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

// Nothing where it is more than memory can hold.
std::optional<std::int64_t> elements_of(const std::vector<std::int64_t>& sizes) {
  std::int64_t elements = 1;
  for (const std::int64_t size : sizes) {
    if (__builtin_mul_overflow(elements, size, &elements)) return {};
  }
  return elements;
}

std::string both(const Given& a, const Given& b) {
  return a.file->name + " and " + b.file->name;
}

// Along the dimension in which parts begin in the most places only neighbours are compared: thousands of ranks have a
// part of each tensor.
std::optional<std::pair<const Given*, const Given*>> overlapping(const std::vector<Given>& given) {
  std::vector<const Given*> parts;
  for (const Given& each : given) {
    if (!is_empty({each.tensor->begin, each.tensor->sizes})) parts.push_back(&each);
  }
  std::size_t along = 0, most = 0;
  for (std::size_t i = 0; i < given[0].tensor->whole.size(); ++i) {
    std::set<std::int64_t> places;
    for (const Given* part : parts) places.insert(part->tensor->begin[i]);
    if (places.size() > most) along = i, most = places.size();
  }
  const auto begin = [along](const Given* part) { return part->tensor->begin[along]; };
  std::sort(parts.begin(), parts.end(), [&](auto* a, auto* b) { return begin(a) < begin(b); });
  for (std::size_t a = 0; a < parts.size(); ++a) {
    const Box box{parts[a]->tensor->begin, parts[a]->tensor->sizes};
    for (std::size_t b = a + 1; b < parts.size() && begin(parts[b]) < begin(parts[a]) + box.sizes[along]; ++b) {
      if (!is_empty(common(box, {parts[b]->tensor->begin, parts[b]->tensor->sizes}))) return {{parts[a], parts[b]}};
    }
  }
  return {};
}

std::string what_is_wrong(const std::vector<Given>& given) {
  if (given.size() > 1) {
    for (const Given& each : given) {
      if (each.tensor->whole.empty()) return "it is in " + both(given[0], given[1]) + ", and is no part of a tensor";
    }
  }
  const TensorRecord& first = *given[0].tensor;
  if (first.whole.empty()) return {};
  const auto elements = elements_of(first.whole);
  if (!elements) return "it is a part of a tensor of " + shown(first.whole) + ", more than memory can hold";
  std::int64_t covered = 0;
  for (const Given& each : given) {
    if (each.tensor->whole != first.whole) {
      return "it is a part of a tensor of " + shown(first.whole) + " in " + given[0].file->name + ", of one of " +
             shown(each.tensor->whole) + " in " + each.file->name;
    }
    if (!lies_within({each.tensor->begin, each.tensor->sizes}, first.whole)) {
      return "its part of " + shown(each.tensor->sizes) + " at " + shown(each.tensor->begin) + " in " +
             each.file->name + " is outside of " + shown(first.whole);
    }
    if (__builtin_add_overflow(covered, *elements_of(each.tensor->sizes), &covered)) return "its parts overlap";
  }
  if (const auto two = overlapping(given)) return "its parts in " + both(*two->first, *two->second) + " overlap";
  if (covered == *elements) return {};
  return "its parts have " + std::to_string(covered) + " of the elements of " + shown(first.whole);
}

}  // namespace

Box common(const Box& a, const Box& b) {
  Box result;
  for (std::size_t i = 0; i < a.begin.size(); ++i) {
    const std::int64_t begin = std::max(a.begin[i], b.begin[i]);
    const std::int64_t end = std::min(a.begin[i] + a.sizes[i], b.begin[i] + b.sizes[i]);
    result.begin.push_back(begin);
    result.sizes.push_back(std::max<std::int64_t>(end - begin, 0));
  }
  return result;
}

bool lies_within(const Box& box, const std::vector<std::int64_t>& whole) {
  if (box.begin.size() != whole.size() || box.sizes.size() != whole.size()) return false;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (box.begin[i] < 0 || box.sizes[i] < 0 || box.sizes[i] > whole[i]) return false;
    if (box.begin[i] > whole[i] - box.sizes[i]) return false;
  }
  return true;
}

bool is_empty(const Box& box) {
  return std::find(box.sizes.begin(), box.sizes.end(), 0) != box.sizes.end();
}

std::string what_is_wrong(const std::vector<FileRecord>& files) {
  std::map<std::pair<std::string, std::string>, std::vector<Given>> tensors;
  for (const FileRecord& file : files) {
    for (const TensorRecord& tensor : file.tensors) tensors[{file.section, tensor.name}].push_back({&file, &tensor});
  }
  for (const auto& [name, given] : tensors) {
    if (const std::string wrong = what_is_wrong(given); !wrong.empty()) {
      return "tensor '" + name.second + "' of the section '" + name.first + "': " + wrong;
    }
  }
  return {};
}

}  // namespace tandem::checkpoint
