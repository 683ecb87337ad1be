// MNIST's IDX files to RecordIO.
#pragma once

#include <cstdint>
#include <string>

#include "tandem/export.h"

namespace tandem {

// Writes samples [begin, begin + count) of a pair of IDX files, plain or gzip-compressed, to a RecordIO file; count -1
// means all from `begin`. A record is the label byte, then rows × columns pixel bytes, row by row. Returns the number
// of records. The output appears whole or not at all.
//
// Errors: Error(kNotFound), Error(kIo); kDataLoss naming the file when the magic number is wrong, the size is not what
// the header declares, compressed data is damaged or ends early, or the two files disagree; kOutOfRange when the range
// is not within the file. Source of the format: yann.lecun.com/exdb/mnist.
TANDEM_API std::int64_t mnist_to_recordio(const std::string& images, const std::string& labels,
                                          const std::string& output, std::int64_t begin = 0, std::int64_t count = -1);

}  // namespace tandem
