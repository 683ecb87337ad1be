// What trainers declare, as calls carry it. What servers read of it is checked before it is used.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <string>
#include <vector>

#include "parameter_server/trainers.h"
#include "tandem/option.h"
#include "tandem/parameter_server.h"

namespace tandem::parameter_server {

struct OptimizerChoice {
  std::string type;
  std::vector<Option> options;

  std::string text() const;
};

// An embedding table, and which of how many servers this is.
struct TableDeclaration {
  std::string name;
  std::int64_t rows = 0, width = 0;
  at::ScalarType dtype = at::kFloat;
  OptimizerChoice optimizer;
  RowPlacement placement = RowPlacement::kModulo;
  bool has_initial = false;
  double standard_deviation = 1;
  std::uint64_t seed = 0;
  int server = 0, servers = 1;

  // Errors: kInvalidArgument naming the table.
  void check() const;
  std::string text() const;
  std::int64_t bytes() const;  // of this server's rows
};

struct DenseDeclaration {
  std::string name;
  std::vector<std::int64_t> sizes;
  at::ScalarType dtype = at::kFloat;
};

// The dense parameters of one server.
struct DenseDeclarations {
  std::vector<DenseDeclaration> parameters;
  OptimizerChoice optimizer;

  void check() const;
  std::string text() const;
  std::int64_t bytes() const;
};

// All that a server has a part of.
struct Declarations {
  Mode mode;
  DenseDeclarations dense;
  std::vector<TableDeclaration> tables;
};

at::IValue to_value(const Declarations& declarations);
// Throws c10::Error for another kind of value, Error for one that makes no sense.
Declarations declarations_from(const at::IValue& value);

// [*, "name", value] for calls.
at::IValue to_value(const NamedTensors& tensors);
NamedTensors named_tensors_from(const at::IValue& value);

// Of tables and dense parameters. Errors: kInvalidArgument.
void check_table_name(const std::string& name);

}  // namespace tandem::parameter_server
