#include "data/formats/formats.h"

#include "tandem/error.h"

namespace tandem::formats {

void throw_damaged(const DataFile& file, const std::string& what) {
  file.check(0, file.size());  // zeros in the place of lost pages are not what is wrong with it
  throw Error(ErrorCode::kDataLoss, file.name() + ": " + what + "; restore the file");
}

}  // namespace tandem::formats
