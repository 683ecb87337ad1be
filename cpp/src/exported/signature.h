// What a graph's inputs and outputs stand for.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

#include "exported/json_fields.h"

namespace tandem::exported {

struct InputBinding {
  enum class Kind { kParameter, kBuffer, kConstant, kUser, kFixed };
  Kind kind;
  std::string name;          // in the model; of kUser and kFixed in the graph
  bool persistent = true;    // of a buffer
  at::IValue fixed = {};     // what kFixed was when the program was exported

  // Whether it is a parameter or a persistent buffer.
  bool is_state() const { return kind == Kind::kParameter || (kind == Kind::kBuffer && persistent); }
  // Whether each call has a value of its own for it, or none is needed.
  bool is_given() const { return kind == Kind::kUser || kind == Kind::kFixed; }
};

struct OutputBinding {
  // What a graph without in-place operators gives for a buffer, parameter or user input is copied there.
  enum class Kind { kUser, kBuffer, kParameter, kUserInput };
  Kind kind;
  std::string name = {};  // of what is changed
};

struct Signature {
  std::vector<InputBinding> inputs;
  std::vector<OutputBinding> outputs;
};

// Throws tandem::Error: kDataLoss; kUnsupported for TorchBind objects and graphs that compute gradients.
Signature parse_signature(const Json& signature, const std::string& where);

}  // namespace tandem::exported
