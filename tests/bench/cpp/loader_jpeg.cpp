// Our side of the case `jpeg` of `loader`: pictures of a RecordIO file to shuffled batches.
//
//   bench-loader-jpeg prepare FOLDER                       draws the pictures: pictures.recordio, and a JPEG file each
//   bench-loader-jpeg epochs FOLDER EPOCHS THREADS KIND    KIND is plain, or train: a random window, resized, mirrored
//
// The second writes rank-0.json into the folder BENCH_OUT: pictures a second, and sums of what one epoch gives.
#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>

#include "cpp/data/pictures.h"
#include "tandem/loader.h"
#include "tandem/recordio.h"
#include "tandem/resident.h"
#include "tandem/schema_dataset.h"

namespace {

constexpr std::int64_t kPictures = 2000, kBatch = 64, kTrained = 224;
constexpr int kSide = 256;
constexpr const char* kSchema =
    R"({"fields": [{"name": "label", "dtype": "int64"},
                   {"name": "picture", "kind": "image", "shape": [3, 256, 256]}]})";

// Clouds: noise of all scales, as photographs have it, in colours that go with one another.
tandem::test::Pixels draw_clouds(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> any(-1, 1);
  std::vector<double> values(static_cast<std::size_t>(kSide) * kSide * 3);
  double weight = 60;
  for (int cells = 4; cells <= 128; cells *= 2, weight *= 0.62) {
    std::vector<double> grid(static_cast<std::size_t>(cells + 1) * static_cast<std::size_t>(cells + 1) * 3);
    for (double& value : grid) value = any(random);
    const auto at = [&](int y, int x, int c) { return grid[static_cast<std::size_t>((y * (cells + 1) + x) * 3 + c)]; };
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        const double fy = static_cast<double>(y) * cells / kSide, fx = static_cast<double>(x) * cells / kSide;
        const int gy = static_cast<int>(fy), gx = static_cast<int>(fx);
        const auto mixed = [&](int c) {
          const double upper = at(gy, gx, c) + (fx - gx) * (at(gy, gx + 1, c) - at(gy, gx, c));
          const double lower = at(gy + 1, gx, c) + (fx - gx) * (at(gy + 1, gx + 1, c) - at(gy + 1, gx, c));
          return upper + (fy - gy) * (lower - upper);
        };
        const double gray = mixed(0);
        double* const pixel = values.data() + static_cast<std::size_t>((y * kSide + x) * 3);
        for (int c = 0; c < 3; ++c) pixel[c] += weight * (0.7 * gray + 0.3 * mixed(c));
      }
    }
  }
  tandem::test::Pixels pixels{kSide, kSide, 3, {}};
  for (const double value : values) pixels.data.push_back(static_cast<std::uint8_t>(std::clamp(value + 120, 0., 255.)));
  return pixels;
}

void prepare(const std::string& folder) {
  tandem::RecordIOWriterOptions options;
  options.version = 2;
  options.metadata.schema = kSchema;
  tandem::RecordIOWriter writer(folder + "/pictures.recordio", options);
  std::size_t bytes = 0;
  for (std::int64_t i = 0; i < kPictures; ++i) {
    const auto jpeg = tandem::test::encode_jpeg(draw_clouds(static_cast<unsigned>(i)), {85});
    const std::int64_t label = i % 1000;
    std::vector<std::uint8_t> record(sizeof label + jpeg.size());
    std::memcpy(record.data(), &label, sizeof label);
    std::copy(jpeg.begin(), jpeg.end(), record.begin() + sizeof label);
    writer.write(record);
    std::ofstream file(folder + "/" + std::to_string(i) + ".jpg", std::ios::binary);
    file.write(reinterpret_cast<const char*>(jpeg.data()), static_cast<std::streamsize>(jpeg.size()));
    bytes += jpeg.size();
  }
  writer.close();
  std::cout << bytes / kPictures << " bytes a picture\n";
}

// Calls `use` with each batch of an epoch. Opens the file anew, so that every checksum is verified.
template <typename Use>
tandem::LoaderStatistics load(const std::string& path, std::int64_t epoch, int threads, bool train, const Use& use) {
  tandem::SchemaDatasetOptions options;
  if (train) {
    auto& fit = options.decoding.fits["picture"];
    fit.kind = tandem::ImageFit::Kind::kRandomResizedCrop;
    fit.height = fit.width = kTrained;
    fit.flip = true;
  }
  tandem::DataLoader loader(tandem::schema_dataset({path}, tandem::schema_of_files({path}), options),
                            {.batch_size = kBatch, .seed = 1, .threads = threads});
  for (tandem::LoadedBatch& batch : loader.epoch(epoch)) use(batch);
  return loader.statistics();
}

int epochs(const std::string& folder, int count, int threads, bool train) {
  const char* out = std::getenv("BENCH_OUT");
  if (!out) {
    std::cerr << "BENCH_OUT is not set\n";
    return 2;
  }
  tandem::keep_freed_memory();
  const std::string path = folder + "/pictures.recordio";
  std::int64_t labels = 0, sums = 0, samples = 0;
  load(path, 0, threads, train, [&](tandem::LoadedBatch& batch) {
    labels += batch["label"].sum().item<std::int64_t>();
    sums += batch["picture"].sum().item<std::int64_t>();
  });
  const auto start = std::chrono::steady_clock::now();
  for (int e = 1; e <= count; ++e) {
    const auto statistics = load(path, e, threads, train, [&](tandem::LoadedBatch& batch) { samples += batch.rows; });
    std::cout << statistics.text() << "\n";
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  std::ofstream report(std::string(out) + "/rank-0.json");
  report << "{\"rate\": " << static_cast<double>(samples) / elapsed.count() << ", \"labels\": " << labels
         << ", \"pixels\": " << sums << "}\n";
  return report.flush() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 2 ? argv[1] : "";
  if (command == "prepare" && argc == 3) {
    prepare(argv[2]);
    return 0;
  }
  if (command == "epochs" && argc == 6) {
    return epochs(argv[2], std::atoi(argv[3]), std::atoi(argv[4]), std::string(argv[5]) == "train");
  }
  std::cerr << "usage: bench-loader-jpeg prepare FOLDER | epochs FOLDER EPOCHS THREADS plain|train\n";
  return 2;
}
