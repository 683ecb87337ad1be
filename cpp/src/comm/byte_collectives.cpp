// Bytes of another length on each rank: lengths first, then one collective on tensors of bytes.
#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "comm/process_group_parts.h"
#include "comm/tensors.h"

namespace tandem {
namespace {

using Lengths = std::vector<std::int64_t>;

at::Tensor to_tensor(const std::string& bytes, at::Device device) {
  at::Tensor tensor = at::empty({static_cast<std::int64_t>(bytes.size())}, at::kByte);
  if (!bytes.empty()) std::memcpy(tensor.mutable_data_ptr(), bytes.data(), bytes.size());
  return tensor.to(device);
}

std::string to_string(const at::Tensor& tensor) {
  const at::Tensor bytes = tensor.cpu().contiguous();
  return std::string(static_cast<const char*>(bytes.const_data_ptr()), static_cast<std::size_t>(bytes.numel()));
}

at::Tensor to_tensor(const Lengths& lengths, at::Device device) {
  return at::tensor(at::ArrayRef<std::int64_t>(lengths), at::kLong).to(device);
}

Lengths to_lengths(const at::Tensor& tensor) {
  const at::Tensor lengths = tensor.cpu().contiguous();
  const auto* data = lengths.const_data_ptr<std::int64_t>();
  return Lengths(data, data + lengths.numel());
}

// Before memory is taken. All ranks see the same lengths, so that all go on or none does.
void check_lengths(const Lengths& lengths, const char* collective) {
  std::int64_t left = ProcessGroup::kMostBytes;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] >= 0 && lengths[i] <= left) {
      left -= lengths[i];
      continue;
    }
    refuse(collective, "the " + std::to_string(lengths[i]) + " bytes of rank " + std::to_string(i) +
                           " make it more than " + std::to_string(ProcessGroup::kMostBytes) +
                           " in one call; send less at a time, or tensors");
  }
}

}  // namespace

at::Device ProcessGroup::device() const {
  return parts_->main().serves(at::kCPU) ? at::Device(at::kCPU) : parts_->options.device;
}

std::string ProcessGroup::broadcast_bytes(const std::string& bytes, int root) {
  check_rank_of(root, "root", "broadcast_bytes");
  at::Tensor length = to_tensor(Lengths{static_cast<std::int64_t>(bytes.size())}, device());
  broadcast(length, root);
  const Lengths lengths = to_lengths(length);
  check_lengths(lengths, "broadcast_bytes");
  const bool is_root = rank() == root;
  at::Tensor tensor = is_root ? to_tensor(bytes, device())
                              : at::empty({lengths[0]}, at::TensorOptions(at::kByte).device(device()));
  broadcast(tensor, root);
  return is_root ? bytes : to_string(tensor);
}

std::vector<std::string> ProcessGroup::all_gather_bytes(const std::string& bytes) {
  at::Tensor all = at::empty({size()}, at::TensorOptions(at::kLong).device(device()));
  all_gather_into_tensor(all, to_tensor(Lengths{static_cast<std::int64_t>(bytes.size())}, device()));
  const Lengths lengths = to_lengths(all);
  check_lengths(lengths, "all_gather_bytes");
  std::vector<at::Tensor> outputs;
  for (const std::int64_t length : lengths) {
    outputs.push_back(at::empty({length}, at::TensorOptions(at::kByte).device(device())));
  }
  all_gather(outputs, to_tensor(bytes, device()));
  std::vector<std::string> result;
  for (const at::Tensor& output : outputs) result.push_back(to_string(output));
  return result;
}

std::vector<std::string> ProcessGroup::gather_bytes(const std::string& bytes, int root) {
  check_rank_of(root, "root", "gather_bytes");
  at::Tensor all = at::empty({size()}, at::TensorOptions(at::kLong).device(device()));
  all_gather_into_tensor(all, to_tensor(Lengths{static_cast<std::int64_t>(bytes.size())}, device()));
  const Lengths lengths = to_lengths(all);
  check_lengths(lengths, "gather_bytes");
  // Each rank's to root, which has room for exactly that.
  const bool is_root = rank() == root;
  std::int64_t total = 0;
  for (const std::int64_t length : lengths) total += length;
  if (total == 0) return is_root ? std::vector<std::string>(size()) : std::vector<std::string>();
  const auto options = at::TensorOptions(at::kByte).device(device());
  Lengths sent(size(), 0);
  sent[root] = static_cast<std::int64_t>(bytes.size());
  at::Tensor received = at::empty({is_root ? total : 0}, options);
  all_to_all_single(received, to_tensor(bytes, device()), is_root ? lengths : Lengths(size(), 0), sent);
  std::vector<std::string> result;
  std::int64_t offset = 0;
  for (int i = 0; is_root && i < size(); ++i) {
    result.push_back(to_string(received.narrow(0, offset, lengths[i])));
    offset += lengths[i];
  }
  return result;
}

std::string ProcessGroup::scatter_bytes(const std::vector<std::string>& bytes, int root) {
  check_rank_of(root, "root", "scatter_bytes");
  const bool is_root = rank() == root;
  if (bytes.size() != static_cast<std::size_t>(is_root ? size() : 0)) {
    refuse("scatter_bytes", "rank " + std::to_string(rank()) + " gave " + std::to_string(bytes.size()) +
                                " byte strings; root gives one a rank, the others none");
  }
  Lengths lengths(size(), 0);
  for (std::size_t i = 0; i < bytes.size(); ++i) lengths[i] = static_cast<std::int64_t>(bytes[i].size());
  at::Tensor all = to_tensor(lengths, device());
  broadcast(all, root);
  lengths = to_lengths(all);
  check_lengths(lengths, "scatter_bytes");
  if (std::all_of(lengths.begin(), lengths.end(), [](auto length) { return length == 0; })) return "";
  std::string joined;
  for (const std::string& one : bytes) joined += one;
  Lengths received(size(), 0);
  received[root] = lengths[rank()];
  at::Tensor output = at::empty({lengths[rank()]}, at::TensorOptions(at::kByte).device(device()));
  all_to_all_single(output, to_tensor(joined, device()), received, is_root ? lengths : Lengths(size(), 0));
  return to_string(output);
}

}  // namespace tandem
