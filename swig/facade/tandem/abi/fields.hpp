// Layouts of records.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "tandem/tandem.h"

namespace tandem::abi {

// The layout of a record: fields that follow one another without gaps.
class Fields {
 public:
  // out_dtype: dtype itself, float32 as (x · scale − mean) / std, or int64.
  void add(const std::string& name, int32_t dtype, const std::vector<int64_t>& sizes, int32_t out_dtype,
           double mean = 0, double std = 1, double scale = 1) {
    const std::string& kept_name = names_.emplace_back(name);
    const std::vector<int64_t>& kept_sizes = sizes_.emplace_back(sizes);
    fields_.push_back({kept_name.c_str(), dtype, out_dtype, kept_sizes.data(), static_cast<int64_t>(kept_sizes.size()),
                       mean, std, scale});
  }
  size_t size() const { return fields_.size(); }
  const tdm_field* data() const { return fields_.data(); }

  Fields() = default;
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

 private:
  std::deque<std::string> names_;
  std::deque<std::vector<int64_t>> sizes_;
  std::vector<tdm_field> fields_;
};

}  // namespace tandem::abi
