// Tensors that several ranks' files have parts of. Parts are boxes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/manifest.h"

namespace tandem::checkpoint {

struct Box {
  std::vector<std::int64_t> begin, sizes;
};

// What two boxes of a tensor have in common; without elements where that is nothing.
Box common(const Box& a, const Box& b);
// Of no element: a size is 0.
bool is_empty(const Box& box);

// Whether it is one of a tensor of these sizes.
bool lies_within(const Box& box, const std::vector<std::int64_t>& whole);

// Why the files do not make up tensors: one is there twice, or its parts overlap or leave something out. "" where they
// do.
std::string what_is_wrong(const std::vector<FileRecord>& files);

}  // namespace tandem::checkpoint
