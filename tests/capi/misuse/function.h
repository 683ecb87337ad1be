// The functions of tandem.h as data, so that a test can call each of them with anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tandem/tandem.h"

namespace misuse {

enum class Shape {
  kInteger,  // flags, enumerations, numbers
  kCount,    // size_t
  kReal,
  kDevice,
  kString,
  kStringList,
  kHandle,
  kHandleList,
  kHandleOut,  // one, or an array of them
  kStruct,     // that the function reads
  kStructOut,
  kMemory,  // that it reads, or copies to
  kMemoryList,
  kOut,
  kCallback,
};

struct Parameter {
  std::string name;
  Shape shape;
  std::string about;  // the type of handle ("tensor") or struct ("tdm_ddp_options")
  std::size_t size;   // of the struct
  bool sized;         // it begins with struct_size
  bool nullable;      // as tandem.h says
  bool nullable_elements;

  bool is_pointer() const { return shape >= Shape::kString; }
};

// One argument: the member that its parameter's shape asks for.
struct Slot {
  void* pointer = nullptr;
  std::uint64_t integer = 0;
  double real = 0;
  tdm_device device{TDM_DEVICE_CPU, -1};
};

struct Function {
  std::string name;
  bool fallible;
  std::vector<Parameter> parameters;
  tdm_error* (*call)(const Slot* arguments);  // NULL for one that cannot fail
};

// In the order of tandem.h.
const std::vector<Function>& functions();

}  // namespace misuse
