// The files that `split` writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::data_tool {

// "train.recordio" stands for "train-00000.recordio" and so on.
class NumberedFiles {
 public:
  explicit NumberedFiles(const std::string& path);

  std::string path(std::int64_t number) const;
  // Throw Error(kInvalidArgument) naming a file, of `count` that are to be written:
  // where one of them is also one of `inputs`, whose records would be lost if writing the others failed;
  void refuse_inputs(std::int64_t count, const std::vector<std::string>& inputs) const;
  // where a file of a later number is there already: whoever reads all numbers would have its records as well.
  void refuse_more_than(std::int64_t count) const;

 private:
  std::string before_, after_;  // the number
};

}  // namespace tandem::data_tool
