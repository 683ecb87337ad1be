#include "tandem/summary_writer.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <stdexcept>

#include "base/host.h"
#include "summary/event_file.h"
#include "summary/messages.h"
#include "summary/pixels.h"
#include "summary/png.h"
#include "tandem/error.h"

namespace tandem {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// TensorBoard takes any file with "tfevents" in its name; time, host and process keep those of a folder apart.
std::string file_name(double time, const std::string& suffix) {
  static std::atomic<int> files{0};
  std::array<char, 352> name{};
  std::snprintf(name.data(), name.size(), "events.out.tfevents.%010" PRId64 ".%s.%d.%d",
                static_cast<std::int64_t>(time), host_name().c_str(), static_cast<int>(getpid()), files++);
  return name.data() + suffix;
}

std::string in_folder(const std::string& folder, const std::string& name) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(ErrorCode::kIo, "cannot create the folder " + folder + ": " + error.message());
  return (std::filesystem::path(folder) / name).string();
}

}  // namespace

struct SummaryWriter::Impl {
  Impl(const std::string& folder, const std::string& suffix) : file(in_folder(folder, file_name(now(), suffix))) {
    file.append(version_event(now()));
  }

  void add(const std::string& tag, const std::string& summary, std::int64_t step, std::optional<double> wall_time) {
    if (summary.size() > INT_MAX / 2) {
      throw Error(ErrorCode::kInvalidArgument,
                  "\"" + tag + "\" has " + std::to_string(summary.size()) + " bytes, more than an event can have");
    }
    const std::lock_guard lock(mutex);
    check_open();
    file.append(summary_event(wall_time.value_or(now()), step, summary));
  }

  void check_open() const {
    if (closed) throw Error(ErrorCode::kClosed, file.path() + ": the summary writer was closed before this use");
  }

  std::mutex mutex;
  EventFile file;
  bool closed = false;
};

SummaryWriter::SummaryWriter(const std::string& folder, const std::string& suffix) {
  if (folder.empty()) throw Error(ErrorCode::kInvalidArgument, "a summary writer needs the name of a folder");
  if (suffix.find('/') != std::string::npos) {
    throw Error(ErrorCode::kInvalidArgument, "the suffix \"" + suffix + "\" of a file's name has a slash");
  }
  impl_ = std::make_unique<Impl>(folder, suffix);
}

SummaryWriter::~SummaryWriter() = default;

void SummaryWriter::add_scalar(const std::string& tag, double value, std::int64_t step,
                               std::optional<double> wall_time) {
  impl_->add(tag, scalar_summary(tag, static_cast<float>(value)), step, wall_time);
}

void SummaryWriter::add_histogram(const std::string& tag, const at::Tensor& values, std::int64_t step,
                                  std::optional<double> wall_time) {
  if (values.is_complex()) {
    throw Error(ErrorCode::kInvalidArgument, "histogram \"" + tag +
                                                 "\": complex numbers have no order; give at::abs "
                                                 "or at::view_as_real of them");
  }
  const at::Tensor numbers = values.detach().to_dense().to(at::kCPU, at::kDouble).contiguous();
  const Histogram histogram =
      make_histogram({numbers.const_data_ptr<double>(), static_cast<std::size_t>(numbers.numel())});
  if (histogram.count == 0) {
    throw Error(ErrorCode::kInvalidArgument, "histogram \"" + tag + "\": none of the tensor's " +
                                                 std::to_string(numbers.numel()) + " elements is a finite number");
  }
  impl_->add(tag, histogram_summary(tag, histogram), step, wall_time);
}

void SummaryWriter::add_image(const std::string& tag, const at::Tensor& image, std::int64_t step, ImageDataFormat layout,
                              std::optional<double> wall_time) {
  const at::Tensor pixels = to_pixels(tag, image, layout);
  EncodedImage encoded{pixels.size(0), pixels.size(1), static_cast<int>(pixels.size(2)), {}};
  try {
    encoded.png = encode_png(pixels.const_data_ptr<std::uint8_t>(), encoded.height, encoded.width, encoded.channels);
  } catch (const std::runtime_error& error) {
    throw Error(ErrorCode::kInternal, "image \"" + tag + "\" cannot be encoded as PNG: " + error.what());
  }
  impl_->add(tag, image_summary(tag, encoded), step, wall_time);
}

void SummaryWriter::add_text(const std::string& tag, const std::string& text, std::int64_t step,
                             std::optional<double> wall_time) {
  impl_->add(tag, text_summary(tag + "/text_summary", text), step, wall_time);
}

void SummaryWriter::flush() {
  const std::lock_guard lock(impl_->mutex);
  impl_->check_open();
  impl_->file.sync();
}

void SummaryWriter::close() {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->closed) return;
  impl_->closed = true;
  impl_->file.sync();
}

const std::string& SummaryWriter::path() const {
  return impl_->file.path();
}

}  // namespace tandem
