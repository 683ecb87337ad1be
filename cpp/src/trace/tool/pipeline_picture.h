// A pipeline's step as text, from the traces of its ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem {

struct PictureOptions {
  std::int64_t step = -1;  // counts the steps of a pipeline from 1; -1: the last that is in all files
  int width = 100;         // columns
  std::uint64_t most_bytes = std::uint64_t{1} << 30;  // of a file
};

// A row for each stage of each rank, time from left to right: a forward is its micro-batch's digit (0-9, then A-Z, then
// *), a backward its letter (a to z, then +), waiting a dot. The line above says how long the step took and which
// share of the ranks' time was spent waiting (the bubble). Errors: kInvalidArgument for files of different runs, without
// pipelines, or without that step, and a width that is not 20 to 1000; those of read_trace_file().
std::string pipeline_picture(const std::vector<std::string>& files, const PictureOptions& options = {});

}  // namespace tandem
