// The code of a package, loaded: LibTorch's runner, with what it does not tell.
#pragma once

#include <ATen/DynamicLibrary.h>
#include <torch/csrc/inductor/aoti_runner/model_container_runner.h>

#include <memory>
#include <string>
#include <vector>

#include "exported/compiled/package.h"

namespace tandem::exported {

class Runner final : public torch::inductor::AOTIModelContainerRunner {
 public:
  // Runs the library's initializers. `at_once`: how many threads may call it at a time. Throws tandem::Error: kLibrary
  // where it does not load, and what Package::extract() throws. Nothing of what was unpacked is left.
  static std::unique_ptr<Runner> load(const Package& package, std::size_t at_once);

  struct Constant {
    std::string name;      // in the library
    std::string in_model;  // of the parameter or buffer, "" for none
    bool is_state;         // a parameter or buffer
    bool is_folded;        // computed from others
  };
  std::vector<Constant> constants() const;
  std::size_t inputs() const;
  std::size_t outputs() const;

 private:
  Runner(const std::string& library, std::size_t at_once);
  template <typename Function>
  Function* function(const char* name) const;
};

}  // namespace tandem::exported
