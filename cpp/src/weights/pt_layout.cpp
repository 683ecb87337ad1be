#include "weights/pt_layout.h"

#include "tandem/error.h"
#include "weights/legacy_layout.h"
#include "weights/zip_directory.h"
#include "weights/zip_layout.h"

namespace tandem::weights {

PtLayout read_pt_layout(std::span<const std::uint8_t> file, const std::string& name, const pickle::Limits& limits) {
  if (begins_as_zip(file)) return read_zip_layout(file, name, limits);
  if (begins_as_legacy(file)) return read_legacy_layout(file, name, limits);
  throw Error(ErrorCode::kDataLoss,
              name + " is no file of torch.save: it begins neither as a zip archive nor as its older format; " +
                  (file.empty() ? "it is empty" : "is it a file of another kind, such as safetensors?"));
}

}  // namespace tandem::weights
