// Feeds damaged JPEGs and PNGs to their decoders: whatever comes, the answer is pixels or a tandem::Error, in bounded
// memory.
//
//   fuzz_images SECONDS SEED
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <zlib.h>

#include "cpp/data/pictures.h"
#include "data/decode/pixels.h"
#include "fuzz/mutator.h"
#include "tandem/error.h"

namespace {

using Bytes = tandem::test::FileBytes;
using Clock = std::chrono::steady_clock;

std::vector<Bytes> make_corpus() {
  using namespace tandem::test;
  std::vector<Bytes> corpus;
  const Pixels colors = draw(37, 45, 3);
  for (const bool progressive : {false, true}) {
    for (const auto& [horizontal, vertical] : {std::pair{1, 1}, {2, 1}, {2, 2}, {1, 2}}) {
      corpus.push_back(encode_jpeg(colors, {80, horizontal, vertical, progressive}));
      corpus.push_back(encode_jpeg(colors, {80, horizontal, vertical, progressive, false, 1}));
    }
    corpus.push_back(encode_jpeg(draw(37, 45, 1), {80, 1, 1, progressive}));
    corpus.push_back(encode_jpeg(draw(37, 45, 4), {80, 2, 2, progressive, true}));
    corpus.push_back(encode_jpeg(colors, {80, 2, 2, progressive, false, 0, true}));
  }
  for (const bool interlaced : {false, true}) {
    corpus.push_back(encode_png(colors, {PNG_COLOR_TYPE_RGB, 8, interlaced}));
    corpus.push_back(encode_png(draw(9, 7, 4), {PNG_COLOR_TYPE_RGB_ALPHA, 8, interlaced}));
    corpus.push_back(encode_png(draw(9, 7, 2), {PNG_COLOR_TYPE_GRAY, 16, interlaced}));
    corpus.push_back(encode_png({9, 7, 1, Bytes(9, 0xa5)}, {PNG_COLOR_TYPE_GRAY, 1, interlaced}));
    corpus.push_back(
        encode_png(draw(9, 7, 1), {PNG_COLOR_TYPE_PALETTE, 8, interlaced, Bytes(3 * 200, 0x31), Bytes(50, 0x80)}));
  }
  return corpus;
}

// Gives the chunks of a PNG their checksums, without which nothing gets past them.
void mend_checksums(Bytes& bytes) {
  for (std::size_t at = 8; at + 12 <= bytes.size();) {
    const std::size_t size =
        static_cast<std::size_t>(bytes[at]) << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3];
    if (size > bytes.size() - at - 12) return;
    const auto sum = crc32(0, bytes.data() + at + 4, static_cast<uInt>(size + 4));
    for (int i = 0; i < 4; ++i)
      bytes[at + 8 + size + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(sum >> (24 - 8 * i));
    at += size + 12;
  }
}

class Fuzzer {
 public:
  explicit Fuzzer(unsigned seed) : mutator_(seed), corpus_(make_corpus()) {}

  void run(double seconds) {
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (Clock::now() < end) {
      Bytes bytes = mutator_.mutant(corpus_);
      if (bytes.size() > 8 && bytes[0] == 0x89 && mutator_.below(4)) mend_checksums(bytes);
      try {
        decode(bytes);
        ++decoded_;
      } catch (const tandem::Error& error) {
        ++refused_;
        if (error.code() != tandem::ErrorCode::kDataLoss) {
          std::fprintf(stderr, "unexpected kind of error: %s\n", error.what());
          std::exit(1);
        }
      }
    }
    std::printf("%ld pictures decoded, %ld refused\n", decoded_, refused_);
    if (decoded_ == 0 || refused_ == 0) {
      std::fprintf(stderr, "the mutations reach nothing: one of the counts is zero\n");
      std::exit(1);
    }
  }

 private:
  void decode(const Bytes& given) {
    // Of exactly this size, so that a sanitizer sees what reads past its end.
    const std::unique_ptr<std::uint8_t[]> bytes(new std::uint8_t[given.size()]);
    std::copy(given.begin(), given.end(), bytes.get());
    constexpr std::int64_t kMostPixels = 1 << 22;
    const auto picture = tandem::image::open({bytes.get(), given.size()}, kMostPixels);
    const tandem::image::Header header = picture->header();
    tandem::image::Request request;
    constexpr int kChannels[] = {0, 1, 3};
    request.channels = kChannels[mutator_.below(3)];
    if (header.format == tandem::image::Format::kJpeg) request.eighths = 1 << mutator_.below(4);
    request.strict = mutator_.below(2);
    const std::int64_t height = tandem::image::scaled(header.height, request.eighths);
    const std::int64_t width = tandem::image::scaled(header.width, request.eighths);
    const auto part = [&](std::int64_t size, std::int64_t& from, std::int64_t& count) {
      from = mutator_.below(2) ? 0 : static_cast<std::int64_t>(mutator_.below(static_cast<std::size_t>(size)));
      count = mutator_.below(2) ? size - from
                                : 1 + static_cast<std::int64_t>(mutator_.below(static_cast<std::size_t>(size - from)));
    };
    part(height, request.window.top, request.window.height);
    part(width, request.window.left, request.window.width);
    const std::int64_t channels = request.channels ? request.channels : header.channels;
    const std::int64_t width_out = request.window.width, plane = request.window.height * width_out;
    request.rgbx = header.format == tandem::image::Format::kJpeg && channels == 3 && mutator_.below(4) == 0;
    const std::int64_t pixel = request.rgbx ? 4 : channels;
    const std::unique_ptr<std::uint8_t[]> pixels(new std::uint8_t[static_cast<std::size_t>(plane * pixel)]);
    if (request.rgbx || mutator_.below(3) == 0) {
      picture->decode(request, {pixels.get(), 1, width_out * pixel, pixel});
    } else if (mutator_.below(2)) {
      picture->decode(request, {pixels.get(), plane, width_out, 1});
    } else {
      picture->decode(request, {pixels.get() + width_out - 1, plane, width_out, -1});
    }
  }

  tandem::test::Mutator mutator_;
  const std::vector<Bytes> corpus_;
  long decoded_ = 0, refused_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: fuzz_images SECONDS SEED\n");
    return 1;
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit memory{1u << 27, 1u << 27};  // a size that is believed shows as bad_alloc
  setrlimit(RLIMIT_AS, &memory);
#endif
  Fuzzer(static_cast<unsigned>(std::atoi(argv[2]))).run(std::atof(argv[1]));
}
