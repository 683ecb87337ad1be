// Feeds damaged manifests of checkpoints to their reader: as they are, and with a checksum that is right.
//
//   fuzz_checkpoint SECONDS SEED
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "checkpoint/checksum.h"
#include "checkpoint/manifest.h"
#include "checkpoint/parts.h"
#include "fuzz/fuzz.h"

namespace {

using tandem::checkpoint::Manifest;
using tandem::test::FileBytes;

std::string_view text_of(const FileBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void insist(bool holds, const char* otherwise) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", otherwise);
  std::abort();
}

class Fuzzer {
 public:
  explicit Fuzzer(unsigned seed) : fuzz_(seed) {
    Manifest manifest{.step = 12, .world_size = 3, .values_bytes = 2, .values_crc32 = 5, .files = {}};
    add(manifest);
    manifest.files.push_back({"model.safetensors", "model", 0, 100, 7, {{"weight \"x\"", 1, {}, {}, {}}}});
    add(manifest);
    for (int rank = 0; rank < 3; ++rank) {
      const std::string name = tandem::checkpoint::file_name("optimizer", rank, 3);
      manifest.files.push_back({name, "optimizer", rank, 64, 8, {{"rows", 4294967295, {6, 3}, {2 * rank, 0}, {2, 3}}}});
    }
    add(manifest);
  }

  void run(double seconds) {
    fuzz_.run(seconds, [this] {
      const FileBytes whole = fuzz_.mutant(whole_);
      fuzz_.expect_records_or_error([&] { read(text_of(whole)); }, true);
      const std::string sealed = seal(text_of(fuzz_.mutant(rests_)));
      fuzz_.expect_records_or_error([&] { read(sealed); }, true);
      const FileBytes files = fuzz_.mutant(files_);
      fuzz_.expect_records_or_error([&] { check(tandem::checkpoint::parse_files(text_of(files))); });
    });
  }

 private:
  static constexpr std::size_t kBeforeRest = std::string_view(R"({"crc32": "00000000",)").size();

  static FileBytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

  static std::string seal(std::string_view rest) {
    char start[kBeforeRest + 1];
    std::snprintf(start, sizeof start, R"({"crc32": "%08x",)", tandem::checkpoint::checksum(rest));
    return start + std::string(rest);
  }

  void add(const Manifest& manifest) {
    const std::string text = tandem::checkpoint::format(manifest);
    insist(seal(std::string_view(text).substr(kBeforeRest)) == text, "a manifest does not begin as it did");
    whole_.push_back(bytes_of(text));
    rests_.push_back(bytes_of(std::string_view(text).substr(kBeforeRest)));
    files_.push_back(bytes_of(tandem::checkpoint::format_files(manifest.files)));
  }

  static void read(std::string_view text) {
    const Manifest manifest = tandem::checkpoint::parse(text, "fuzz");
    insist(manifest.step >= 0 && manifest.world_size >= 0, "a count is negative");
    check(manifest.files);
    insist(tandem::checkpoint::what_is_wrong(manifest.files).empty(), "parts do not make up their tensor");
    const Manifest again = tandem::checkpoint::parse(tandem::checkpoint::format(manifest), "fuzz");
    insist(again.files.size() == manifest.files.size(), "what was read cannot be written");
  }

  static void check(const std::vector<tandem::checkpoint::FileRecord>& files) {
    for (const auto& file : files) {
      insist(file.name.find('/') == std::string::npos && file.name.ends_with(".safetensors"),
             "a manifest leaves its folder");
    }
  }

  tandem::test::Fuzz fuzz_;
  std::vector<FileBytes> whole_, rests_, files_;
};

}  // namespace

int main(int argc, char** argv) {
  return tandem::test::fuzz_main(argc, argv, [](double seconds, unsigned seed) { Fuzzer(seed).run(seconds); });
}
