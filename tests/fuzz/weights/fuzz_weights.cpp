// Feeds damaged files of torch.save, damaged pickles in whole ones, damaged headers of safetensors and damaged indexes
// to their readers.
//
//   fuzz_weights SECONDS SEED
#include <algorithm>
#include <filesystem>
#include <string>

#include "cpp/weights/zip_builder.h"
#include "fuzz/fuzz.h"
#include "weights/pt_layout.h"
#include "weights/safetensors_header.h"
#include "weights/shard_index.h"
#include "weights/zip_directory.h"

namespace {

using tandem::test::FileBytes;
using tandem::weights::PtLayout;

std::string_view text_of(const FileBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Fuzzer {
 public:
  explicit Fuzzer(unsigned seed) : fuzz_(seed) {
    const std::string index =
        R"({"metadata": {"total_size": 7}, "weight_map": {"a.b": "m-00001-of-00002.safetensors", "c": "m.safetensors"}})";
    indexes_.emplace_back(index.begin(), index.end());
    tandem::safetensors::Header header{
        {{"a.weight", "F32", {2, 3}, 0, 0}, {"b", "U8", {0, 4}, 0, 0}, {"c", "BF16", {}, 0, 0}}, {{"format", "pt"}}, 0};
    const std::string start = tandem::safetensors::format(header);
    headers_.emplace_back(start.begin(), start.end());
    tensor_bytes_ = header.entries.back().end;
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(PT_FILES)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      files_.push_back(tandem::test::read_file(path));
      const FileBytes& file = files_.back();
      if (!tandem::weights::begins_as_zip(file)) continue;
      for (const auto& member : tandem::weights::read_zip_directory(file, path)) {
        if (!member.name.ends_with("/data.pkl")) continue;
        const auto begin = file.begin() + static_cast<std::ptrdiff_t>(member.offset);
        pickles_.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(member.size));
      }
    }
  }

  void run(double seconds) {
    fuzz_.run(seconds, [this] {
      fuzz_file();
      fuzz_pickle();
      fuzz_archive();
      fuzz_index();
      fuzz_header();
    });
  }

 private:
  void fuzz_file() {
    const FileBytes file = fuzz_.mutant(files_);
    fuzz_.expect_records_or_error([&] { read(file); }, true);
  }

  void fuzz_pickle() {
    const FileBytes bytes = fuzz_.mutant(pickles_);
    fuzz_.expect_records_or_error([&] { tandem::pickle::unpickle(text_of(bytes), "fuzz"); }, true);
  }

  // Its checksums are right, so that what is in the pickle meets the storages.
  void fuzz_archive() {
    const FileBytes bytes = fuzz_.mutant(pickles_);
    tandem::test::ZipBuilder zip;
    zip.add("archive/data.pkl", text_of(bytes));
    zip.add("archive/version", "3\n");
    for (std::size_t i = 0; i < 24; ++i)
      zip.add("archive/data/" + std::to_string(i), std::string(fuzz_.below(60), 's'));
    FileBytes file = zip.finish(fuzz_.below(2) == 0);
    if (fuzz_.below(3) == 0) fuzz_.mutate(file, files_);
    fuzz_.expect_records_or_error([&] { read(file); }, true);
  }

  void fuzz_index() {
    const FileBytes json = fuzz_.mutant(indexes_);
    fuzz_.expect_records_or_error([&] {
      for (const auto& [tensor, file] : tandem::weights::parse_shard_index(text_of(json), "fuzz").files) {
        if (file.find('/') == std::string::npos && file != ".." && file.ends_with(".safetensors")) continue;
        std::fprintf(stderr, "an index leaves its folder\n");
        std::abort();
      }
    });
  }

  void fuzz_header() {
    FileBytes start = fuzz_.mutant(headers_);
    if (fuzz_.below(2) == 0 && start.size() > 8) {  // its length is right
      for (std::size_t i = 0; i < 8; ++i) start[i] = static_cast<std::uint8_t>((start.size() - 8) >> (8 * i));
    }
    const std::uint64_t size = start.size() + tensor_bytes_;
    fuzz_.expect_records_or_error([&] {
      const auto header = tandem::safetensors::parse("fuzz", text_of(start), size);
      for (const auto& entry : header.entries) {
        if (entry.begin <= entry.end && entry.end <= size - header.data) continue;
        std::fprintf(stderr, "a tensor lies outside of its file\n");
        std::abort();
      }
    });
  }

  static void read(const FileBytes& file) {
    const PtLayout layout = tandem::weights::read_pt_layout(file, "fuzz");
    for (std::size_t i = 0; i < layout.pickle.storages.size(); ++i) {
      const auto& storage = layout.storages.at(layout.storage_of.at(i));
      if (storage.offset > file.size() || storage.size > file.size() - storage.offset ||
          storage.size < layout.pickle.storages[i].bytes()) {
        std::fprintf(stderr, "a storage lies outside of its file\n");
        std::abort();
      }
    }
  }

  tandem::test::Fuzz fuzz_;
  std::vector<FileBytes> files_, pickles_, indexes_, headers_;
  std::uint64_t tensor_bytes_ = 0;  // that follow a header
};

}  // namespace

int main(int argc, char** argv) {
  return tandem::test::fuzz_main(argc, argv, [](double seconds, unsigned seed) { Fuzzer(seed).run(seconds); });
}
