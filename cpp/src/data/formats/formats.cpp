#include "data/formats/formats.h"

#include "tandem/error.h"

namespace tandem::formats {

void throw_damaged(const DataFile& file, const std::string& what) {
  throw Error(ErrorCode::kDataLoss, file.name() + ": " + what + "; restore the file");
}

}  // namespace tandem::formats
