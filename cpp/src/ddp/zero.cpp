#include "tandem/zero.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <numeric>
#include <sstream>

#include "nn/same_kind.h"
#include "tandem/error.h"

namespace tandem {
namespace {

using NamedState = std::vector<std::pair<std::string, at::Tensor>>;

// Whose each is, on top of what ranks have already.
std::vector<int> deal_out(const std::vector<at::Tensor>& parameters, std::vector<std::int64_t>& load) {
  std::vector<std::size_t> order(parameters.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return parameters[a].numel() > parameters[b].numel(); });
  std::vector<int> owners(parameters.size());
  for (const std::size_t i : order) {
    const auto least = std::min_element(load.begin(), load.end());
    owners[i] = static_cast<int>(least - load.begin());
    *least += parameters[i].numel();
  }
  return owners;
}

std::vector<at::Tensor> joined(const std::vector<optim::ParameterGroup>& groups) {
  std::vector<at::Tensor> all;
  for (const auto& group : groups) all.insert(all.end(), group.parameters.begin(), group.parameters.end());
  return all;
}

// "3.exp_avg" with its number read; the number is past the end where there is none.
std::pair<std::size_t, std::string> split(const std::string& name) {
  const auto dot = name.find('.');
  std::size_t index = 0;
  const char* end = name.data() + (dot == std::string::npos ? 0 : dot);
  const auto read = std::from_chars(name.data(), end, index);
  if (read.ec != std::errc() || read.ptr != end) return {static_cast<std::size_t>(-1), name};
  return {index, name.substr(dot + 1)};
}

// A state as bytes: a line a tensor (name, dtype, sizes), an empty line, the elements.
std::string to_bytes(const NamedState& state) {
  std::ostringstream head;
  std::string data;
  for (const auto& [name, tensor] : state) {
    const at::Tensor dense = tensor.detach().cpu().contiguous();
    head << name << ' ' << static_cast<int>(dense.scalar_type());
    for (const std::int64_t size : dense.sizes()) head << ' ' << size;
    head << '\n';
    data.append(static_cast<const char*>(dense.const_data_ptr()), dense.nbytes());
  }
  head << '\n';
  return head.str() + data;
}

NamedState from_bytes(const std::string& bytes) {
  NamedState state;
  const auto end = bytes.find("\n\n") == std::string::npos || bytes[0] == '\n' ? 0 : bytes.find("\n\n") + 1;
  std::istringstream head(bytes.substr(0, end));
  std::size_t at = end + 1;
  for (std::string line; std::getline(head, line);) {
    std::istringstream words(line);
    std::string name;
    int dtype = 0;
    words >> name >> dtype;
    std::vector<std::int64_t> sizes;
    for (std::int64_t size; words >> size;) sizes.push_back(size);
    at::Tensor tensor = at::empty(sizes, at::TensorOptions(static_cast<at::ScalarType>(dtype)));
    if (at + tensor.nbytes() > bytes.size()) throw Error(ErrorCode::kInternal, "a rank's optimizer state is cut short");
    std::memcpy(tensor.mutable_data_ptr(), bytes.data() + at, tensor.nbytes());
    at += tensor.nbytes();
    state.emplace_back(name, tensor);
  }
  return state;
}

std::string broadcast_bytes(ProcessGroup& group, std::string bytes, int root, at::Device device) {
  at::Tensor size = at::full({1}, static_cast<std::int64_t>(bytes.size()), at::TensorOptions(at::kLong)).to(device);
  group.broadcast(size, root);
  bytes.resize(static_cast<std::size_t>(size.item<std::int64_t>()));
  const at::Tensor host =
      at::from_blob(bytes.data(), {static_cast<std::int64_t>(bytes.size())}, at::TensorOptions(at::kByte));
  const at::Tensor there = host.to(device);
  group.broadcast(there, root);
  if (!there.is_same(host)) at::Tensor(host).copy_(there);
  return bytes;
}

}  // namespace

ZeroRedundancyOptimizer::ZeroRedundancyOptimizer(std::shared_ptr<ProcessGroup> group, const std::string& type,
                                                 std::vector<optim::ParameterGroup> groups,
                                                 const std::vector<Option>& options)
    : Optimizer(joined(groups)), group_(std::move(group)), rule_(type), options_(options) {
  if (!group_) throw Error(ErrorCode::kInvalidArgument, "ZeroRedundancyOptimizer needs a process group");
  if (type == "LBFGS") {
    throw Error(ErrorCode::kUnsupported,
                "ZeroRedundancyOptimizer: LBFGS looks at all parameters together, so its work cannot be dealt out");
  }
  // Refuses the same on all ranks, whoever would have what is wrong.
  optim::make_optimizer(type, groups, options);
  load_.assign(static_cast<std::size_t>(group_->size()), 0);
  const std::vector<int> owners = deal_out(parameters(), load_);
  auto owner = owners.begin();
  for (auto& one : groups) {
    group_sizes_.push_back(one.parameters.size());
    const auto end = owner + static_cast<std::ptrdiff_t>(one.parameters.size());
    one = share_of(std::move(one), {owner, end});
    owner = end;
  }
  local_ = optim::make_optimizer(type, std::move(groups), options);
}

ZeroRedundancyOptimizer::ZeroRedundancyOptimizer(std::shared_ptr<ProcessGroup> group, const std::string& type,
                                                 std::vector<at::Tensor> parameters, const std::vector<Option>& options)
    : ZeroRedundancyOptimizer(std::move(group), type, std::vector<optim::ParameterGroup>{{std::move(parameters), {}}},
                              options) {}

optim::ParameterGroup ZeroRedundancyOptimizer::share_of(optim::ParameterGroup group, const std::vector<int>& owners) {
  optim::ParameterGroup share{{}, std::move(group.options)};
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (owners[i] == group_->rank()) {
      mine_.push_back(owners_.size());
      share.parameters.push_back(std::move(group.parameters[i]));
    }
    owners_.push_back(owners[i]);
  }
  return share;
}

void ZeroRedundancyOptimizer::add_group(optim::ParameterGroup group) {
  const std::vector<optim::ParameterGroup> groups{{parameters(), {}}, group};
  optim::make_optimizer(rule_, groups, options_);  // refuses the same on all ranks
  std::vector<at::Tensor> all = joined(groups);
  local_->add_group(share_of(group, deal_out(group.parameters, load_)));
  group_sizes_.push_back(group.parameters.size());
  parameters_.swap(all);
  consolidated_.clear();
}

void ZeroRedundancyOptimizer::step() {
  consolidated_.clear();
  local_->step();
  at::NoGradGuard no_grad;
  // What one rank owns, as one tensor a dtype and device.
  const auto shares = by_kind(parameters(), owners_);
  std::vector<std::pair<Work, at::Tensor>> sent;
  for (const auto& [key, tensors] : shares) {
    const int owner = key.owner;
    std::vector<at::Tensor> parts;
    std::int64_t count = 0;
    for (const at::Tensor& tensor : tensors) {
      count += tensor.numel();
      if (owner == group_->rank()) parts.push_back(tensor.reshape({-1}));
    }
    const at::Tensor flat = parts.empty() ? at::empty({count}, tensors[0].options()) : at::cat(parts);
    sent.emplace_back(group_->broadcast_async(flat, owner), flat);
  }
  std::size_t next = 0;
  for (const auto& [key, tensors] : shares) {
    auto& [work, flat] = sent[next++];
    work.wait();
    if (key.owner == group_->rank()) continue;
    std::int64_t at = 0;
    for (const at::Tensor& tensor : tensors) {
      at::Tensor(tensor).copy_(flat.narrow(0, at, tensor.numel()).view(tensor.sizes()));
      at += tensor.numel();
    }
  }
}

std::vector<std::pair<std::string, at::Tensor>> ZeroRedundancyOptimizer::local_state() const {
  NamedState state = local_->state();
  for (auto& [name, tensor] : state) {
    const auto [index, rest] = split(name);
    name = std::to_string(mine_.at(index)) + "." + rest;
  }
  return state;
}

void ZeroRedundancyOptimizer::consolidate_state(int to) {
  if (to < 0 || to >= group_->size()) {
    throw Error(ErrorCode::kInvalidArgument, "consolidate_state: " + std::to_string(to) + " is no rank of a group of " +
                                                 std::to_string(group_->size()));
  }
  const at::Device device = parameters().empty() ? at::Device(at::kCPU) : parameters()[0].device();
  NamedState whole;
  for (int rank = 0; rank < group_->size(); ++rank) {
    const bool own = rank == group_->rank();
    const std::string bytes = broadcast_bytes(*group_, own ? to_bytes(local_state()) : "", rank, device);
    if (group_->rank() != to) continue;
    for (auto& entry : from_bytes(bytes)) whole.push_back(std::move(entry));
  }
  std::stable_sort(whole.begin(), whole.end(),
                   [](const auto& a, const auto& b) { return split(a.first).first < split(b.first).first; });
  consolidated_ = std::move(whole);
}

std::vector<std::pair<std::string, at::Tensor>> ZeroRedundancyOptimizer::state() const {
  return consolidated_.empty() ? local_state() : consolidated_;
}

void ZeroRedundancyOptimizer::load_state(const std::vector<std::pair<std::string, at::Tensor>>& state) {
  NamedState share;
  for (const auto& [name, tensor] : state) {
    const auto [index, rest] = split(name);
    if (index >= parameters().size()) {
      throw Error(ErrorCode::kNotFound, "ZeroRedundancyOptimizer: state '" + name + "' belongs to none of its " +
                                            std::to_string(parameters().size()) + " parameters");
    }
    const auto place = std::find(mine_.begin(), mine_.end(), index);
    if (place == mine_.end()) continue;
    share.emplace_back(std::to_string(place - mine_.begin()) + "." + rest, tensor);
  }
  local_->load_state(share);
  consolidated_.clear();
}

}  // namespace tandem
