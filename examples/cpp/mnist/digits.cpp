#include "digits.h"

#include <tandem/error.h>
#include <tandem/mnist.h>
#include <tandem/recordio.h>

#include <filesystem>
#include <optional>

namespace fs = std::filesystem;

namespace {

struct IdxPair {
  std::string images, labels;
};

// The IDX files of one part of MNIST, "train" or "t10k", plain or .gz.
std::optional<IdxPair> find_idx(const fs::path& folder, const std::string& part) {
  const auto find = [&](const std::string& name) {
    for (const std::string suffix : {"", ".gz"}) {
      if (fs::exists(folder / (name + suffix))) return (folder / (name + suffix)).string();
    }
    return std::string();
  };
  const IdxPair pair{find(part + "-images-idx3-ubyte"), find(part + "-labels-idx1-ubyte")};
  if (pair.images.empty() && pair.labels.empty()) return std::nullopt;
  if (pair.images.empty() || pair.labels.empty()) {
    throw tandem::Error(tandem::ErrorCode::kNotFound, folder.string() + " has only one of " + part +
                                                          "-images-idx3-ubyte and " + part +
                                                          "-labels-idx1-ubyte (plain or .gz)");
  }
  return pair;
}

// A name that changes with the files that are converted.
std::string cache_name(const std::string& part, const IdxPair& pair) {
  std::string identity;
  for (const auto& file : {pair.images, pair.labels}) {
    identity += fs::canonical(file).string() + '\n' + std::to_string(fs::file_size(file)) + '\n' +
                std::to_string(fs::last_write_time(file).time_since_epoch().count()) + '\n';
  }
  return part + "-" + std::to_string(std::hash<std::string>()(identity)) + ".recordio";
}

}  // namespace

DigitFiles find_digits(const std::string& folder, const std::string& cache, bool convert,
                       const std::function<void()>& wait) {
  if (!fs::is_directory(folder)) {
    throw tandem::Error(tandem::ErrorCode::kNotFound, "--data names " + folder + ", which is no folder");
  }
  const DigitFiles ready{folder + "/train.recordio", folder + "/test.recordio"};
  if (fs::exists(ready.train) && fs::exists(ready.test)) return ready;

  const auto train = find_idx(folder, "train");
  const auto test = find_idx(folder, "t10k");
  if (!test) {
    throw tandem::Error(tandem::ErrorCode::kNotFound,
                        folder +
                            " holds neither train.recordio and test.recordio nor MNIST's IDX files "
                            "(t10k-images-idx3-ubyte and so on, plain or .gz); `draw-digits` draws some");
  }
  const DigitFiles made{
      (fs::path(cache) / cache_name(train ? "train" : "split-train", train ? *train : *test)).string(),
      (fs::path(cache) / cache_name(train ? "test" : "split-test", *test)).string()};
  if (convert && !(fs::exists(made.train) && fs::exists(made.test))) {
    fs::create_directories(cache);
    if (train) {
      tandem::mnist_to_recordio(train->images, train->labels, made.train);
      tandem::mnist_to_recordio(test->images, test->labels, made.test);
    } else {
      const std::int64_t total = tandem::mnist_to_recordio(test->images, test->labels, made.test);
      tandem::mnist_to_recordio(test->images, test->labels, made.train, 0, total - total / 10);
      tandem::mnist_to_recordio(test->images, test->labels, made.test, total - total / 10);
    }
  }
  wait();
  return made;
}
