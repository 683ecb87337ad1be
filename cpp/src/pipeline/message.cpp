#include "pipeline/message.h"

#include <algorithm>
#include <cstring>

namespace tandem {
namespace {

constexpr std::uint32_t kMagic = 0x54504d32;  // "TPM2"
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

struct Head {
  std::uint32_t magic = kMagic;
  std::uint32_t tensors = 0;
  std::int64_t rows = 0, batch_rows = 0;
  std::int32_t error = 0;  // the code; 0: none
  std::uint32_t text = 0;  // bytes of the error's message, at the end
};

struct TensorHead {
  std::int32_t dtype = 0;
  std::uint16_t dimensions = 0;
  std::uint8_t defined = 0;
  std::uint8_t requires_grad = 0;
};

// Of what was checked to have room.
class Writer {
 public:
  explicit Writer(char* begin) : at_(begin) {}
  void put(const void* data, std::size_t size) {
    if (size > 0) std::memcpy(at_, data, size);
    at_ += size;
  }

 private:
  char* at_;
};

class Reader {
 public:
  explicit Reader(const char* begin) : at_(begin), end_(begin + kHeaderBytes) {}
  void get(void* data, std::size_t size) {
    if (size > static_cast<std::size_t>(end_ - at_)) broken();
    if (size > 0) std::memcpy(data, at_, size);
    at_ += size;
  }
  [[noreturn]] static void broken() {
    throw Error(ErrorCode::kDataLoss,
                "a message between pipeline stages does not begin as one; let nothing else send messages in the "
                "pipeline's group, and run the same version on all ranks");
  }

 private:
  const char* at_;
  const char* end_;
};

}  // namespace

std::string shapes(const std::vector<at::Tensor>& tensors) {
  std::string text;
  for (const at::Tensor& tensor : tensors) {
    text += text.empty() ? "" : ", ";
    text += tensor.defined() ? c10::str(tensor.scalar_type(), tensor.sizes()) : std::string("no tensor");
  }
  return text.empty() ? "nothing" : text;
}

void check_sendable(const std::vector<at::Tensor>& tensors) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kUnsupported, "a message between stages does not hold " + shapes(tensors) + ": " + why);
  };
  std::size_t size = sizeof(Head);
  for (const at::Tensor& tensor : tensors) {
    size += sizeof(TensorHead);
    if (!tensor.defined()) continue;
    if (tensor.is_nested()) {
      throw Error(ErrorCode::kUnsupported, "a message between stages holds no nested tensors; give them padded, and the lengths");
    }
    size += static_cast<std::size_t>(tensor.dim()) * sizeof(std::int64_t);
    if (at::isQIntType(tensor.scalar_type())) refuse("quantized numbers are sent as what dequantize() makes of them");
    if (tensor.numel() > kMostElements) refuse("a tensor has at most 2^40 elements");
  }
  if (size <= kHeaderBytes) return;
  refuse(std::to_string(tensors.size()) + " tensors of these dimensions are too many for its header; join some, or cut elsewhere");
}

void make_ready(StageMessage& message) {
  check_sendable(message.tensors);
  for (at::Tensor& tensor : message.tensors) {
    if (!tensor.defined()) continue;
    if (tensor.layout() != at::kStrided) tensor = tensor.to_dense();
    tensor = tensor.cpu().resolve_conj().resolve_neg().contiguous();
  }
}

at::Tensor to_header(const StageMessage& message) {
  at::Tensor header = at::zeros({kHeaderBytes}, at::kByte);
  Writer writer(static_cast<char*>(header.mutable_data_ptr()));
  Head head;
  head.rows = message.rows;
  head.batch_rows = message.batch_rows;
  std::string text;
  if (message.failure) {
    text = message.failure->what();
    text.resize(std::min(text.size(), static_cast<std::size_t>(kHeaderBytes) - sizeof head));
    head.error = static_cast<std::int32_t>(message.failure->code());
    head.text = static_cast<std::uint32_t>(text.size());
  } else {
    head.tensors = static_cast<std::uint32_t>(message.tensors.size());
  }
  writer.put(&head, sizeof head);
  for (std::size_t i = 0; i < head.tensors; ++i) {
    const at::Tensor& tensor = message.tensors[i];
    TensorHead one;
    one.requires_grad = i < message.requires_grad.size() && message.requires_grad[i];
    if (tensor.defined()) {
      one.defined = 1;
      one.dtype = static_cast<std::int32_t>(tensor.scalar_type());
      one.dimensions = static_cast<std::uint16_t>(tensor.dim());
    }
    writer.put(&one, sizeof one);
    if (tensor.defined()) writer.put(tensor.sizes().data(), tensor.dim() * sizeof(std::int64_t));
  }
  writer.put(text.data(), text.size());
  return header;
}

StageMessage from_header(const at::Tensor& header) {
  Reader reader(static_cast<const char*>(header.const_data_ptr()));
  Head head;
  reader.get(&head, sizeof head);
  if (head.magic != kMagic || head.tensors > kHeaderBytes / sizeof(TensorHead)) Reader::broken();
  if (head.rows < 0 || head.rows > head.batch_rows) Reader::broken();
  StageMessage message;
  message.rows = head.rows;
  message.batch_rows = head.batch_rows;
  for (std::uint32_t i = 0; i < head.tensors; ++i) {
    TensorHead one;
    reader.get(&one, sizeof one);
    message.requires_grad.push_back(one.requires_grad != 0);
    message.tensors.emplace_back();
    if (one.defined == 0) continue;
    if (one.dtype < 0 || one.dtype >= static_cast<std::int32_t>(at::ScalarType::Undefined) ||
        one.dimensions > kHeaderBytes / sizeof(std::int64_t)) {
      Reader::broken();
    }
    std::vector<std::int64_t> sizes(one.dimensions);
    reader.get(sizes.data(), sizes.size() * sizeof(std::int64_t));
    std::int64_t elements = 1;
    for (const std::int64_t size : sizes) {
      if (size < 0 || (size > 0 && elements > kMostElements / size)) Reader::broken();
      elements *= size;
    }
    message.tensors.back() = at::empty(sizes, static_cast<at::ScalarType>(one.dtype));
  }
  if (head.error != 0) {
    std::string text(std::min<std::size_t>(head.text, kHeaderBytes), '\0');
    reader.get(text.data(), text.size());
    message.failure = std::make_shared<const Error>(static_cast<ErrorCode>(head.error), text);
  }
  return message;
}

}  // namespace tandem
