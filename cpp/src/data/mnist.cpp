#include "tandem/mnist.h"

#include <vector>

#include "data/idx_file.h"
#include "tandem/error.h"
#include "tandem/recordio.h"

namespace tandem {

std::int64_t mnist_to_recordio(const std::string& images_path, const std::string& labels_path,
                               const std::string& output, std::int64_t begin, std::int64_t count) {
  IdxFile images(images_path, 3, "images");
  IdxFile labels(labels_path, 1, "labels");
  const std::int64_t total = images.sizes()[0];
  if (total != labels.sizes()[0]) {
    throw Error(ErrorCode::kDataLoss, images_path + " has " + std::to_string(total) + " images, but " + labels_path +
                                          " has " + std::to_string(labels.sizes()[0]) +
                                          " labels: they do not belong together");
  }
  if (begin < 0 || count < -1 || begin > total || count > total - begin) {
    throw Error(ErrorCode::kOutOfRange, (count == -1 ? "all samples" : std::to_string(count) + " samples") + " from " +
                                            std::to_string(begin) + " on are not within the " + std::to_string(total) +
                                            " of " + images_path);
  }
  const std::int64_t end = count == -1 ? total : begin + count;
  RecordIOWriter writer(output);
  std::vector<std::uint8_t> record(1 + images.item_bytes());
  // All of both files is read, so that damage anywhere is found before the output appears.
  for (std::int64_t i = 0; i < total; ++i) {
    labels.read_item(record.data());
    images.read_item(record.data() + 1);
    if (i >= begin && i < end) writer.write(record);
  }
  labels.expect_end();
  images.expect_end();
  writer.close();
  return writer.written();
}

}  // namespace tandem
