// What a training run measures, in files that TensorBoard shows.
//
//   tandem::SummaryWriter writer("runs/first");
//   writer.add_scalar("loss", loss.item<double>(), step);       // then: tensorboard --logdir runs
//
// An event file is a row of records in TFRecord's framing, each an Event message of TensorFlow's event.proto. Source:
// torch.utils.tensorboard.SummaryWriter, whose names, tags and histogram buckets these are.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tandem/export.h"

namespace tandem {

// How an image's dimensions lie in its tensor: channels, height, width, and a batch of those.
enum class ImageDataFormat { kCHW, kHWC, kHW, kNCHW, kNHWC };

// Writes one event file of its own, so several processes may write into a folder; of a distributed run usually rank 0
// alone does. Every event reaches the file before its call returns, so a process that is killed loses none; flush() has
// the system write them to the disk. Any thread may call.
//
// `wall_time`: seconds since 1970; unset: now. Errors: kInvalidArgument naming tag and argument; kIo naming the file,
// which then holds all events before; kClosed after close().
class TANDEM_API SummaryWriter {
 public:
  // Makes the folder if need be, and in it events.out.tfevents.TIME.HOST.PROCESS.NUMBER`suffix`.
  explicit SummaryWriter(const std::string& folder, const std::string& suffix = "");
  ~SummaryWriter();
  SummaryWriter(const SummaryWriter&) = delete;
  SummaryWriter& operator=(const SummaryWriter&) = delete;

  // Kept as float32, which is what the format has.
  void add_scalar(const std::string& tag, double value, std::int64_t step, std::optional<double> wall_time = {});

  // Of all elements, of any shape, real dtype and device, counted in buckets whose limits grow by a tenth from 1e-12
  // to 1e20 on both sides of zero. Elements that are not finite are left out; at least one must be.
  void add_histogram(const std::string& tag, const at::Tensor& values, std::int64_t step,
                     std::optional<double> wall_time = {});

  // As PNG. 1 (grey), 3 (RGB) or 4 (RGBA) channels; uint8 from 0 to 255, or floating point from 0 to 1, cut off
  // outside. A batch becomes one picture, eight images a row.
  void add_image(const std::string& tag, const at::Tensor& image, std::int64_t step,
                 ImageDataFormat layout = ImageDataFormat::kCHW, std::optional<double> wall_time = {});

  // Markdown in UTF-8.
  void add_text(const std::string& tag, const std::string& text, std::int64_t step,
                std::optional<double> wall_time = {});

  void flush();
  // Flushes; a second time does nothing.
  void close();

  const std::string& path() const;  // of the file

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem
