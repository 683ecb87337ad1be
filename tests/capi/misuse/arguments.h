// Right arguments for any function of tandem.h, of which a test then makes one wrong.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "capi/misuse/function.h"

namespace misuse {

// Handles of every type, each made when it is first asked for, with what they need beneath them.
class Handles {
 public:
  Handles() = default;
  ~Handles();
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  // "tensor" a leaf of one element that requires grad. NULL for what this machine has not: streams and events of GPUs.
  // The test fails for a type that is not known here.
  void* get(const std::string& type);
  // Frees it too in the end.
  // A loader of the dynamic partition; get("loader") is one of the other kind.
  void* dynamic_loader();
  void own(const std::string& type, void* handle) { order_.emplace_back(type, handle); }
  // The caller has freed it.
  void forget(const std::string& type);
  // One that is none of Handles' own.
  void* make(const std::string& type);
  static void free(const std::string& type, void* handle);
  // Whether a handle of this type can be told to be freed, or of another type.
  static bool is_checked(const std::string& type);

 private:
  std::map<std::string, void*> made_;
  std::vector<std::pair<std::string, void*>> order_;
};

// The arguments of one call, right at first. Frees what the call makes.
class Arguments {
 public:
  explicit Arguments(const Function& function);
  ~Arguments();

  const Slot* data() const { return slots_.data(); }
  Slot& operator[](std::size_t i) { return slots_[i]; }
  Handles& handles() { return handles_; }

  // Memory that lives as long as this.
  void* keep(std::size_t bytes);
  // A list with one element.
  void* list_of(void* element);

  // Whether anything was written to what the call was given for results.
  bool outputs_touched() const;

 private:
  struct Output {
    std::size_t parameter;
    unsigned char* memory;
    std::vector<unsigned char> before;
  };

  void* string_for(const std::string& parameter);
  void* struct_for(const Parameter& parameter);
  void* memory_for(const std::string& parameter);
  void* callback_for(const std::string& parameter);
  std::uint64_t integer_for(const std::string& parameter);
  void* output(std::size_t parameter, std::size_t bytes);

  const Function& function_;
  std::vector<std::unique_ptr<unsigned char[]>> memory_;
  std::deque<std::string> texts_;
  Handles handles_;
  std::vector<Slot> slots_;
  std::vector<Output> outputs_;
};

}  // namespace misuse
