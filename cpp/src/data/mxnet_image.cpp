#include "tandem/mxnet_image.h"

#include <cstring>
#include <string>

#include "base/bytes.h"
#include "data/recordio/bytes.h"
#include "tandem/error.h"

namespace tandem {

MxNetImage parse_mxnet_image(std::span<const std::uint8_t> record) {
  constexpr std::size_t kHeader = 24;
  if (record.size() < kHeader) {
    throw Error(ErrorCode::kDataLoss, "a record of " + std::to_string(record.size()) +
                                          " bytes is too short for MXNet's image header of 24: it is none of im2rec's");
  }
  const std::uint32_t count = load_u32(record.data());
  if (count > (record.size() - kHeader) / sizeof(float)) {
    throw Error(ErrorCode::kDataLoss, "an image header declares " + std::to_string(count) +
                                          " labels, but its record has " + std::to_string(record.size()) +
                                          " bytes: it is none of im2rec's");
  }
  MxNetImage image;
  image.labels.resize(count == 0 ? 1 : count);
  const std::uint8_t* labels = record.data() + (count == 0 ? 4 : kHeader);
  std::memcpy(image.labels.data(), labels, image.labels.size() * sizeof(float));
  image.id = load_u64(record.data() + 8);
  image.id2 = load_u64(record.data() + 16);
  image.content = record.subspan(kHeader + sizeof(float) * count);
  return image;
}

}  // namespace tandem
