// Memory in which processes of one host keep the parameters that they share (Hogwild!). It knows bytes alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/descriptor.h"

namespace tandem {

// The environment's variable for workers: the number of the descriptor at which they have inherited the memory.
inline constexpr const char* kSharedParametersVariable = "TANDEM_SHARED_PARAMETERS";

// Anonymous memory (memfd), empty: no file system has a name for it, so it is gone with the last process that has it,
// however that ends. It grows as parts are made and can never get smaller, so that no process faults on it for what
// another one does. A launcher makes it. Throws Error (kIo) where the system has none.
Descriptor make_parameter_memory();

// A row of parts, each with a name and a description. A part is there once it is whole: one whose maker is killed never
// was. Thread-safe.
class ParameterMemory {
 public:
  // Of make_parameter_memory(), opened by this process itself, for locks are between those that did. Throws Error
  // (kInvalidArgument) for what is not.
  explicit ParameterMemory(Descriptor memory);

  struct Wanted {
    std::string name;         // of the part
    std::string description;  // all processes give the same
    std::size_t bytes = 0;
    bool makes = false;       // where it is not there; else it is waited for
    std::chrono::milliseconds timeout{0};
    std::function<void(std::byte*)> fill;  // what it is to begin with
  };
  struct Part {
    std::shared_ptr<std::byte> data;  // page-aligned; mapped for as long as somebody holds it
    std::size_t bytes = 0;
    bool made = false;  // by this call
    std::string description;          // as its maker gave it
  };
  // Errors: kTimeout naming who was waited for, kOutOfMemory, kDataLoss for memory that something else has written to.
  // Whether description and bytes are those wanted is for the caller to see, before `data` is used.
  Part part(const Wanted& wanted);

 private:
  std::shared_ptr<std::byte> map(std::size_t offset, std::size_t bytes) const;
  bool find(const std::string& name, Part* found) const;
  std::size_t size() const;

  Descriptor memory_;
  std::shared_ptr<std::byte> header_;
  std::mutex making_;  // threads of this process: flock() is one for all that have opened the memory together
};

}  // namespace tandem
