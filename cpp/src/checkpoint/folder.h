// The folder of a training's checkpoints: step-000000120 and so on, `latest` that names one of them, and what a save
// that goes on, or was ended early, has under step-000000120.tmp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::checkpoint {

std::string step_name(std::int64_t step);
std::optional<std::int64_t> step_of(std::string_view name);

// Throws tandem::Error: kIo, kNotFound where the folder above is missing.
class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string path_of(std::int64_t step) const;
  // Where a save writes.
  std::string unfinished(std::int64_t step) const;

  // An empty folder to write in; removes what earlier saves left there unfinished.
  void begin(std::int64_t step) const;
  // Puts back what a publish() that was ended early had moved aside.
  void recover() const;
  // What begin() made is now the checkpoint of this step, whatever was, and `latest` names it. Synced.
  void publish(std::int64_t step) const;
  // Removes what begin() made; says nothing where it cannot.
  void discard(std::int64_t step) const noexcept;
  // Removes all but the last `keep` up to the latest. Those of later steps, which training went back before, stay.
  void prune(std::size_t keep) const;

  // Rising. With a manifest, whether it is whole or not; those too of which that cannot be read. None where there is no folder.
  std::vector<std::int64_t> steps() const;
  // What the file `latest` says; nothing where it is missing, unreadable or says nothing of the kind.
  std::optional<std::int64_t> latest() const;

 private:
  std::string path_;
};

// A file's text, up to `most` bytes. Throws kNotFound, kIo, kDataLoss where it is longer.
std::string read_text(const std::string& path, std::size_t most);

}  // namespace tandem::checkpoint
