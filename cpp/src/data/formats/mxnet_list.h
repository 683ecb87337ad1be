// MXNet's .lst files, from which im2rec packs images: a line is a number, labels and a path, with tabs between.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::formats {

struct MxNetListed {
  std::uint64_t id;
  std::vector<float> labels;  // one at least
  std::string path;  // relative, without ".."
};

// Throws Error(kNotFound), Error(kIo), and Error(kInvalidArgument) naming file and line, also for a path that leads out
// of the folder that it is relative to: a list may come from elsewhere, and records from it may go elsewhere.
std::vector<MxNetListed> read_mxnet_list(const std::string& path);

}  // namespace tandem::formats
