#include "parameter_server/table.h"

#include <algorithm>
#include <sstream>

#include "base/invalid.h"
#include "parameter_server/rows.h"

namespace tandem::parameter_server {
namespace {

std::string shape_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return "nothing";
  std::ostringstream text;
  text << at::toString(tensor.scalar_type()) << ' ' << tensor.sizes();
  if (tensor.layout() != at::kStrided) text << " of layout " << tensor.layout();
  return text.str();
}

at::Tensor sparse_rows(const at::Tensor& places, const at::Tensor& gradients, const at::Tensor& values) {
  return at::sparse_coo_tensor(places.unsqueeze(0), gradients, values.sizes()).coalesce();
}

// On two rows, so that the first push is not the one that finds out.
void check_takes_rows(const TableDeclaration& declared) {
  const at::Tensor rows = at::zeros({2, declared.width}, declared.dtype).requires_grad_(true);
  const auto optimizer = optim::make_optimizer(declared.optimizer.type, {rows}, declared.optimizer.options);
  rows.mutable_grad() = sparse_rows(at::zeros({1}, at::kLong), at::ones({1, declared.width}, declared.dtype), rows);
  optimizer->step();
}

}  // namespace

Table::Table(const TableDeclaration& declared, const at::Tensor& initial) : declared_(declared) {
  const at::NoGradGuard no_grad;
  const Rows rows(declared.rows, declared.servers, declared.placement);
  const std::int64_t here = rows.on(declared.server);
  try {
    check_takes_rows(declared);
    values_ = at::empty({here, declared.width}, declared.dtype);
    if (declared.has_initial) {
      check_values(here, initial, "initial values");
      values_.copy_(initial);
    } else {
      constexpr std::int64_t kAtATime = 1 << 20;  // so that rows' numbers take no memory to speak of
      for (std::int64_t begin = 0; begin < here; begin += kAtATime) {
        const std::int64_t count = std::min(kAtATime, here - begin);
        fill_normal(values_.narrow(0, begin, count), rows.rows_of(declared.server, begin, count), declared.seed,
                    declared.standard_deviation);
      }
    }
    values_.requires_grad_(true);
    optimizer_ = optim::make_optimizer(declared.optimizer.type, {values_}, declared.optimizer.options);
  } catch (const Error& error) {
    throw Error(error.code(), "table '" + declared.name + "': " + error.what());
  }
}

void Table::check_places(const at::Tensor& places) const {
  const std::string what = "table '" + declared_.name + "': ";
  if (!places.defined() || places.layout() != at::kStrided || places.scalar_type() != at::kLong ||
      places.dim() != 1 || !places.is_cpu()) {
    invalid(what + "rows are named by int64 numbers [n] on the CPU, not by " + shape_of(places));
  }
  const std::int64_t here = values_.size(0);
  if (places.numel() == 0) return;
  const auto least = places.min().item<std::int64_t>(), most = places.max().item<std::int64_t>();
  if (least >= 0 && most < here) return;
  throw Error(ErrorCode::kOutOfRange, what + "row " + std::to_string(least < 0 ? least : most) +
                                          " of this server's is out of range; it has " + std::to_string(here));
}

void Table::check_rows(const at::Tensor& places, const at::Tensor& values, const std::string& what) const {
  check_places(places);
  check_values(places.numel(), values, what);
}

void Table::check_values(std::int64_t rows, const at::Tensor& values, const std::string& what) const {
  if (values.defined() && values.layout() == at::kStrided && values.is_cpu() && values.scalar_type() == declared_.dtype &&
      values.sizes() == at::IntArrayRef({rows, declared_.width})) {
    return;
  }
  std::ostringstream text;
  text << "table '" << declared_.name << "': " << what << " of " << rows << " rows are "
       << at::toString(declared_.dtype) << " [" << rows << ", " << declared_.width << "] on the CPU, not "
       << shape_of(values);
  invalid(text.str());
}

at::Tensor Table::read(const at::Tensor& places) const {
  const at::NoGradGuard no_grad;
  const std::lock_guard<std::mutex> lock(mutex_);
  return values_.detach().index_select(0, places);
}

void Table::apply(const at::Tensor& places, const at::Tensor& gradients) {
  const at::NoGradGuard no_grad;
  const std::lock_guard<std::mutex> lock(mutex_);
  values_.mutable_grad() = sparse_rows(places, gradients, values_);
  try {
    optimizer_->step();
  } catch (const Error& error) {
    values_.mutable_grad().reset();
    throw Error(error.code(), "table '" + declared_.name + "': " + error.what());
  }
  values_.mutable_grad().reset();
}

void Table::set_option(const Option& option) {
  const std::lock_guard<std::mutex> lock(mutex_);
  optimizer_->set_option(option);
}

bool Table::is_by_row(const at::Tensor& state) const {
  return state.sizes() == values_.sizes();
}

NamedTensors Table::read_state(const at::Tensor& places) const {
  const at::NoGradGuard no_grad;
  const std::lock_guard<std::mutex> lock(mutex_);
  NamedTensors state{{kValues, values_.detach().index_select(0, places)}};
  for (const auto& [name, tensor] : optimizer_->state()) {
    state.emplace_back(name.substr(2), is_by_row(tensor) ? tensor.index_select(0, places) : tensor.clone());
  }
  return state;
}

void Table::write_state(const at::Tensor& places, const NamedTensors& state) {
  const at::NoGradGuard no_grad;
  const std::lock_guard<std::mutex> lock(mutex_);
  NamedTensors kept = optimizer_->state(), wanted;
  bool is_new = kept.size() + 1 != state.size();
  for (const auto& [name, tensor] : state) {
    if (name == kValues || tensor.dim() == 2) check_rows(places, tensor, name == kValues ? "values" : "'" + name + "'");
    if (name == kValues) continue;
    const auto found = std::ranges::find(kept, "0." + name, [](const auto& one) { return one.first; });
    if (tensor.dim() == 2) {
      is_new = is_new || found == kept.end();
      wanted.emplace_back("0." + name, found == kept.end() ? at::zeros(values_.sizes(), tensor.options()) : found->second);
    } else {
      is_new = is_new || found == kept.end() || !found->second.equal(tensor);
      wanted.emplace_back("0." + name, tensor);
    }
  }
  // Only where it has other states or numbers: it copies all rows.
  if (is_new) optimizer_->load_state(wanted);
  kept = optimizer_->state();
  for (const auto& [name, tensor] : state) {
    if (name == kValues) {
      values_.detach().index_copy_(0, places, tensor);
    } else if (tensor.dim() == 2) {
      std::ranges::find(kept, "0." + name, [](const auto& one) { return one.first; })->second.index_copy_(0, places, tensor);
    }
  }
}

DenseTable::DenseTable(const DenseDeclarations& declared, const std::vector<at::Tensor>& values) : declared_(declared) {
  if (values.size() != declared.parameters.size()) {
    invalid(std::to_string(declared.parameters.size()) + " dense parameters came with " + std::to_string(values.size()) + " values");
  }
  if (declared.optimizer.type == "LBFGS") {
    throw Error(ErrorCode::kUnsupported, "LBFGS needs a closure, which a server does not have; use another optimizer");
  }
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < values.size(); ++i) {
    check(i, values[i], "value");
    parameters_.push_back(values[i].clone(at::MemoryFormat::Contiguous).requires_grad_(true));
  }
  if (!values.empty()) optimizer_ = optim::make_optimizer(declared.optimizer.type, parameters_, declared.optimizer.options);
}

void DenseTable::check(std::size_t index, const at::Tensor& tensor, const std::string& what) const {
  const DenseDeclaration& one = declared_.parameters.at(index);
  if (tensor.defined() && tensor.layout() == at::kStrided && tensor.is_cpu() && tensor.scalar_type() == one.dtype &&
      tensor.sizes() == at::IntArrayRef(one.sizes)) {
    return;
  }
  std::ostringstream text;
  text << "dense parameter '" << one.name << "': its " << what << " is " << at::toString(one.dtype) << ' '
       << at::IntArrayRef(one.sizes) << " on the CPU, not " << shape_of(tensor);
  invalid(text.str());
}

std::vector<at::Tensor> DenseTable::read() const {
  const at::NoGradGuard no_grad;
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<at::Tensor> values;
  for (const at::Tensor& parameter : parameters_) values.push_back(parameter.detach().clone());
  return values;
}

void DenseTable::apply(const std::vector<at::Tensor>& gradients) {
  const at::NoGradGuard no_grad;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto set = [&](bool given) {
    for (std::size_t i = 0; i < parameters_.size(); ++i) parameters_[i].mutable_grad() = given ? gradients[i] : at::Tensor();
  };
  set(true);
  try {
    if (optimizer_) optimizer_->step();
  } catch (const Error& error) {
    set(false);
    throw Error(error.code(), std::string("dense parameters: ") + error.what());
  }
  set(false);
}

void DenseTable::set_option(const Option& option) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (optimizer_) optimizer_->set_option(option);
}

std::size_t DenseTable::find(const std::string& name) const {
  for (std::size_t i = 0; i < declared_.parameters.size(); ++i) {
    if (declared_.parameters[i].name == name) return i;
  }
  throw Error(ErrorCode::kNotFound, "this server has no dense parameter '" + name + "'");
}

NamedTensors DenseTable::read_state(const std::vector<std::string>& names) const {
  const at::NoGradGuard no_grad;
  const std::lock_guard<std::mutex> lock(mutex_);
  NamedTensors state;
  const NamedTensors all = optimizer_ ? optimizer_->state() : NamedTensors();
  for (const std::string& name : names) {
    const std::size_t index = find(name);
    state.emplace_back(name, parameters_[index].detach().clone());
    const std::string prefix = std::to_string(index) + ".";
    for (const auto& [of, tensor] : all) {
      if (of.starts_with(prefix)) state.emplace_back(name + "/" + of.substr(prefix.size()), tensor.clone());
    }
  }
  return state;
}

void DenseTable::write_state(const NamedTensors& state) {
  const at::NoGradGuard no_grad;
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<at::Tensor> values(parameters_.size());
  NamedTensors wanted;
  for (const auto& [name, tensor] : state) {
    const auto slash = name.find('/');
    const std::size_t index = find(name.substr(0, slash));
    if (slash == std::string::npos) {
      check(index, tensor, "value");
      values[index] = tensor;
    } else {
      wanted.emplace_back(std::to_string(index) + "." + name.substr(slash + 1), tensor);
    }
  }
  const auto is_given = [&](const std::string& of) {
    const auto index = static_cast<std::size_t>(std::stoul(of));
    return values[index].defined();
  };
  for (const auto& [name, tensor] : wanted) {
    if (!is_given(name)) invalid("what an optimizer remembers of a dense parameter comes with its value");
  }
  if (!optimizer_) return;
  for (const auto& [name, tensor] : optimizer_->state()) {
    if (!is_given(name)) wanted.emplace_back(name, tensor);
  }
  optimizer_->load_state(wanted);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].defined()) parameters_[i].detach().copy_(values[i]);
  }
}

}  // namespace tandem::parameter_server
