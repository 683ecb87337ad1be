#include "data/transform/field_transform.h"

namespace tandem::transform {

FieldTransform::FieldTransform(std::string step, Fields fields) : step_(std::move(step)), fields_(std::move(fields)) {
  if (fields_.empty()) invalid(step_ + " needs the names of the fields that it changes");
}

void FieldTransform::apply(Batch& batch) {
  const at::NoGradGuard no_grad;
  for (const std::string& field : fields_) {
    at::Tensor& tensor = field_of(batch, field);
    const std::string where = step_ + " of field '" + field + "': ";
    if (!tensor.defined()) invalid(where + "there is no tensor");
    try {
      tensor = changed(tensor, batch);
    } catch (const Error& error) {
      throw Error(error.code(), where + error.what());
    } catch (const c10::Error& error) {
      throw Error(ErrorCode::kInvalidArgument, where + error.what_without_backtrace());
    }
  }
}

void check_images(const at::Tensor& images) {
  if (images.dim() != 4) invalid("images are [N, C, H, W], not " + c10::str(images.sizes()));
  if (images.scalar_type() != at::kByte && !images.is_floating_point()) {
    invalid(std::string("images are uint8 or floating, not ") + c10::toString(images.scalar_type()));
  }
}

void check_images(const at::Tensor& images, const Batch& batch) {
  check_images(images);
  if (images.size(0) != static_cast<std::int64_t>(batch.sample_randomness.size())) {
    invalid("there are " + std::to_string(images.size(0)) + " images, but sample_randomness has " +
            std::to_string(batch.sample_randomness.size()) + " numbers");
  }
}

void check_size(const char* what, std::int64_t size) {
  constexpr std::int64_t kMost = 1 << 20;
  if (size < 1 || size > kMost) {
    invalid(std::string(what) + " is " + std::to_string(size) + ", but must be from 1 to " + std::to_string(kMost));
  }
}

void check_resize(const ResizeOptions& options) {
  check_size("height", options.height);
  check_size("width", options.width);
  if (options.interpolation != Interpolation::kNearest && options.interpolation != Interpolation::kBilinear) {
    invalid("there is no interpolation " + std::to_string(static_cast<int>(options.interpolation)));
  }
}

at::Tensor interpolated(const at::Tensor& images, const ResizeOptions& options) {
  const std::vector<std::int64_t> size{options.height, options.width};
  if (images.size(2) == options.height && images.size(3) == options.width) return images;
  if (options.interpolation == Interpolation::kNearest) return at::upsample_nearest2d(images, size);
  const auto bilinear = [&](const at::Tensor& from) {
    return options.antialias ? at::_upsample_bilinear2d_aa(from, size, false)
                             : at::upsample_bilinear2d(from, size, false);
  };
  if (images.scalar_type() != at::kByte || images.is_cpu()) return bilinear(images);
  return bilinear(images.to(at::kFloat)).round_().clamp_(0, 255).to(at::kByte);
}

}  // namespace tandem::transform
