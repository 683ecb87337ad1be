#include "base/crc32c.h"
#include "base/packed.h"
#include "tandem/error.h"
#include "tandem/loader_state.h"

namespace tandem {
namespace {

// Magic, version u32, seven numbers of 8 bytes, the order's name, CRC-32C of what comes before.
constexpr std::string_view kMagic = "TDMLOAD1";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kMostBytes = 255;

std::uint32_t checksum(std::string_view bytes) {
  return crc32c({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorCode::kDataLoss, "this is no state of a loader: " + what + "; take another checkpoint");
}

}  // namespace

std::string LoaderState::bytes() const {
  Packer out{std::string(kMagic)};
  out << kVersion << fingerprint << samples << positions << seed << epoch << position << batch_size
      << std::string_view(order).substr(0, kLongestOrder);
  out << checksum(out.bytes());
  return out.bytes();
}

LoaderState LoaderState::parse(std::string_view bytes) {
  constexpr std::size_t kChecksum = sizeof(std::uint32_t);
  if (bytes.size() > kMostBytes) damaged("it has " + std::to_string(bytes.size()) + " bytes");
  if (!bytes.starts_with(kMagic)) damaged("it does not begin with " + std::string(kMagic));
  if (bytes.size() < kMagic.size() + sizeof kVersion + kChecksum) damaged("it ends early");
  const std::string_view content = bytes.substr(0, bytes.size() - kChecksum);
  if (Unpacker(bytes.substr(content.size())).take<std::uint32_t>() != checksum(content)) {
    damaged("its checksum is not that of its bytes");
  }
  Unpacker in(content.substr(kMagic.size()));
  if (const auto version = in.take<std::uint32_t>(); version != kVersion) {
    throw Error(ErrorCode::kUnsupported, "the loader's state is of version " + std::to_string(version) +
                                             "; this Tandem reads version " + std::to_string(kVersion) +
                                             ": install the one that wrote it, or a newer one");
  }
  LoaderState state;
  try {
    state.fingerprint = in.take<std::uint64_t>();
    state.samples = in.take<std::int64_t>();
    state.positions = in.take<std::int64_t>();
    state.seed = in.take<std::uint64_t>();
    state.epoch = in.take<std::int64_t>();
    state.position = in.take<std::int64_t>();
    state.batch_size = in.take<std::int64_t>();
    state.order = in.text();
  } catch (const Unpacker::Ended&) {
    damaged("it ends early");
  }
  if (state.samples < 0 || state.positions < 0 || state.epoch < 0 || state.position < 0 ||
      state.position > state.positions || state.batch_size < 1) {
    damaged("its numbers cannot be");
  }
  return state;
}

}  // namespace tandem
