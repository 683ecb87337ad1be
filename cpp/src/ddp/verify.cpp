#include "ddp/verify.h"

#include <algorithm>

#include "base/mix.h"
#include "tandem/error.h"
#include "tandem/process_group.h"

namespace tandem {
namespace {

// Empty for a contiguous tensor. A bucket holds gradients in the order of their parameters' elements.
std::string order_of_elements(const at::Tensor& tensor) {
  if (!tensor.is_non_overlapping_and_dense() || tensor.is_contiguous()) return "";
  return c10::str("strides ", tensor.strides());
}

// Which of a module's devices a tensor is on: gradients of one device travel together. Ranks number their devices as
// they like, so that only the type counts, and which of that type comes first.
std::string place_of(const at::Tensor& tensor, std::vector<at::Device>& seen) {
  const at::Device device = tensor.device();
  if (device.is_cpu()) return "";
  const auto same_type = [&](const at::Device& one) { return one.type() == device.type(); };
  const auto found = std::find(seen.begin(), seen.end(), device);
  const auto number = std::count_if(seen.begin(), found, same_type);
  if (found == seen.end()) seen.push_back(device);
  std::string text = " on " + c10::DeviceTypeName(device.type(), /*lower_case=*/true);
  if (number > 0) text += " device " + std::to_string(number + 1) + " of the module's";
  return text;
}

// What must agree, and what only helps to name it, a line each.
struct Description {
  std::string shapes;
  std::string lines;
};

Description describe(const std::vector<at::Tensor>& tensors, const std::vector<std::string>& labels) {
  Description result;
  std::vector<at::Device> devices;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::string shape = c10::str(tensors[i].scalar_type(), tensors[i].sizes());
    if (tensors[i].requires_grad()) {
      shape += " with gradient";
      const std::string order = order_of_elements(tensors[i]);
      if (!order.empty()) shape += " and " + order;
    } else {
      shape += " without gradient";
    }
    shape += place_of(tensors[i], devices);
    result.shapes += shape + "\n";
    result.lines += labels[i] + "\t" + shape + "\n";
  }
  return result;
}

std::vector<std::string> gather_texts(ProcessGroup& group, const std::string& text, const at::Tensor& like,
                                      std::int64_t longest, const std::vector<std::int64_t>& lengths) {
  at::Tensor mine = at::zeros({longest}, at::TensorOptions(at::kByte));
  std::copy(text.begin(), text.end(), mine.data_ptr<std::uint8_t>());
  mine = mine.to(like.device());
  std::vector<at::Tensor> all;
  for (int rank = 0; rank < group.size(); ++rank) all.push_back(at::empty_like(mine));
  group.all_gather(all, mine);
  std::vector<std::string> texts;
  for (int rank = 0; rank < group.size(); ++rank) {
    const at::Tensor bytes = all[rank].cpu();
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data_ptr<std::uint8_t>()), lengths[rank]);
  }
  return texts;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string label_of(const std::string& line) {
  return line.substr(0, line.rfind('\t'));
}
std::string shape_of(const std::string& line) {
  return line.substr(line.rfind('\t') + 1);
}

[[noreturn]] void throw_difference(int rank, const std::vector<std::string>& first,
                                   const std::vector<std::string>& other) {
  const std::string who = "rank " + std::to_string(rank);
  for (std::size_t i = 0; i < std::min(first.size(), other.size()); ++i) {
    if (shape_of(first[i]) == shape_of(other[i])) continue;
    std::string name = label_of(first[i]);
    if (label_of(other[i]) != name) name += " (" + label_of(other[i]) + " on " + who + ")";
    throw Error(ErrorCode::kInvalidArgument, "ranks train different models: " + name + " is " + shape_of(first[i]) +
                                                 " on rank 0, but " + shape_of(other[i]) + " on " + who +
                                                 "; build the same module on every rank");
  }
  const auto& longer = first.size() > other.size() ? first : other;
  throw Error(ErrorCode::kInvalidArgument,
              "ranks train different models: rank 0 has " + std::to_string(first.size()) + " parameters and buffers, " +
                  who + " has " + std::to_string(other.size()) + "; the first that only one of them has is " +
                  label_of(longer[std::min(first.size(), other.size())]) + "; build the same module on every rank");
}

bool takes(const ProcessGroup& group, c10::DeviceType device) {
  return std::ranges::any_of(group.native()->getDeviceTypes(),
                             [&](const at::Device& one) { return one.type() == device; });
}

}  // namespace

std::string not_exchanged(const ProcessGroup& group, const std::vector<at::Tensor>& tensors,
                          const std::vector<std::string>& labels) {
  const std::string backend = "the group's backend '" + group.backend() + "'";
  // NCCL's is bound to one GPU.
  const bool one_gpu = group.backend().find("nccl") != std::string::npos && group.rank_device().is_cuda();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const at::Device device = tensors[i].device();
    if (!takes(group, device.type())) {
      return labels[i] + " is on " + device.str() + ", whose tensors " + backend +
             " does not exchange; make the group with one that does, such as gloo, or with one for each type of "
             "device, such as cpu:shm,cuda:nccl";
    }
    if (one_gpu && device.is_cuda() && device != group.rank_device()) {
      return labels[i] + " is on " + device.str() + ", but " + backend + " exchanges what is on " + group.rank_device().str() +
             ", one GPU of each rank; make the group with gloo, which takes several";
    }
  }
  return "";
}

void verify_same_on_all_ranks(ProcessGroup& group, const std::vector<at::Tensor>& tensors,
                              const std::vector<std::string>& labels, const std::string& complaint) {
  at::NoGradGuard no_grad;
  const Description mine = describe(tensors, labels);
  const auto length = [](const std::string& text) { return static_cast<std::int64_t>(text.size()); };
  at::Tensor summary = at::tensor(
      {static_cast<std::int64_t>(fnv1a(mine.shapes)), length(mine.lines), length(complaint)}, at::TensorOptions(at::kLong));
  // Ranks may have parameters on different devices.
  if (!takes(group, c10::kCPU)) summary = summary.to(group.rank_device());
  std::vector<at::Tensor> all;
  for (int rank = 0; rank < group.size(); ++rank) all.push_back(at::empty_like(summary));
  group.all_gather(all, summary);

  bool same = true;
  std::vector<std::int64_t> lengths, complaints;
  const std::int64_t first_hash = all[0].cpu()[0].item<std::int64_t>();
  for (const at::Tensor& other : all) {
    const at::Tensor of_rank = other.cpu();
    same &= of_rank[0].item<std::int64_t>() == first_hash;
    lengths.push_back(of_rank[1].item<std::int64_t>());
    complaints.push_back(of_rank[2].item<std::int64_t>());
  }
  if (const auto longest = std::ranges::max(complaints); longest > 0) {
    const auto texts = gather_texts(group, complaint, summary, longest, complaints);
    const auto first = std::ranges::find_if(texts, [](const std::string& text) { return !text.empty(); });
    throw Error(ErrorCode::kInvalidArgument, "on rank " + std::to_string(first - texts.begin()) + " " + *first);
  }
  if (same) return;

  const auto texts = gather_texts(group, mine.lines, summary, std::ranges::max(lengths), lengths);
  const auto first = lines_of(texts[0]);
  for (int rank = 1; rank < group.size(); ++rank) {
    const auto other = lines_of(texts[rank]);
    const bool equal = std::equal(first.begin(), first.end(), other.begin(), other.end(),
                                  [](const auto& a, const auto& b) { return shape_of(a) == shape_of(b); });
    if (!equal) throw_difference(rank, first, other);
  }
}

}  // namespace tandem
