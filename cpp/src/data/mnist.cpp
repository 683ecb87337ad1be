#include "tandem/mnist.h"

#include "base/lost_pages.h"
#include "base/shown_path.h"
#include "data/formats/formats.h"
#include "tandem/error.h"
#include "tandem/recordio.h"

namespace tandem {

std::int64_t mnist_to_recordio(const std::string& images, const std::string& labels, const std::string& output,
                               std::int64_t begin, std::int64_t count) {
  const auto samples = formats::open_mnist(open_data_file(images), open_data_file(labels));
  const std::int64_t total = samples->size();
  if (begin < 0 || count < -1 || begin > total || count > total - begin) {
    throw Error(ErrorCode::kOutOfRange, (count == -1 ? "all samples" : std::to_string(count) + " samples") + " from " +
                                            std::to_string(begin) + " on are not within the " + std::to_string(total) +
                                            " of " + shown_path(images));
  }
  LostReads lost;
  RecordIOWriter writer(output);
  for (std::int64_t i = begin; i < (count == -1 ? total : begin + count); ++i) writer.write(samples->read(i).bytes);
  lost.require_none(output.c_str());
  writer.close();
  return writer.written();
}

}  // namespace tandem
