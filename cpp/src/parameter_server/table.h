// A server's rows of an embedding table, and its dense parameters: values and what optimizers remember of them.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "parameter_server/declaration.h"
#include "tandem/optim.h"

namespace tandem::parameter_server {

// Of values and states in one list the values' name, which no state has.
constexpr const char* kValues = "";

// Thread-safe. Rows are named by their places on this server; errors name the table.
class Table {
 public:
  // `initial`: this server's rows, where the declaration has initial ones. Errors: kInvalidArgument; those of
  // make_optimizer(); kUnsupported for an optimizer that takes no sparse gradients.
  Table(const TableDeclaration& declared, const at::Tensor& initial);

  const TableDeclaration& declared() const { return declared_; }

  // Errors: kInvalidArgument for what is no list of places, kOutOfRange for one that is not there.
  void check_places(const at::Tensor& places) const;
  // The same, with values of these rows in `what`. Errors: kInvalidArgument.
  void check_rows(const at::Tensor& places, const at::Tensor& values, const std::string& what) const;

  at::Tensor read(const at::Tensor& places) const;
  // One step of the optimizer, with gradients of rows, which may be named twice. Without rows it counts as a step.
  void apply(const at::Tensor& places, const at::Tensor& gradients);
  void set_option(const Option& option);

  // Values and states of rows, and numbers that the table has one of ("step").
  NamedTensors read_state(const at::Tensor& places) const;
  void write_state(const at::Tensor& places, const NamedTensors& state);

 private:
  void check_values(std::int64_t rows, const at::Tensor& values, const std::string& what) const;
  bool is_by_row(const at::Tensor& state) const;

  const TableDeclaration declared_;
  mutable std::mutex mutex_;
  at::Tensor values_;  // [rows here, width]
  std::unique_ptr<optim::Optimizer> optimizer_;
};

// Thread-safe.
class DenseTable {
 public:
  DenseTable(const DenseDeclarations& declared, const std::vector<at::Tensor>& values);

  const DenseDeclarations& declared() const { return declared_; }
  std::size_t size() const { return parameters_.size(); }

  // Errors: kInvalidArgument naming the parameter.
  void check(std::size_t index, const at::Tensor& tensor, const std::string& what) const;
  // Copies, in order.
  std::vector<at::Tensor> read() const;
  // One step of the optimizer; undefined ones are left alone.
  void apply(const std::vector<at::Tensor>& gradients);
  void set_option(const Option& option);

  // By name: values, and "NAME/STATE" for what the optimizer remembers of it.
  NamedTensors read_state(const std::vector<std::string>& names) const;
  void write_state(const NamedTensors& state);

 private:
  std::size_t find(const std::string& name) const;

  const DenseDeclarations declared_;
  mutable std::mutex mutex_;
  std::vector<at::Tensor> parameters_;
  std::unique_ptr<optim::Optimizer> optimizer_;
};

}  // namespace tandem::parameter_server
