#include "data/formats/gunzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace tandem::formats {

std::vector<std::uint8_t> gunzip(recordio::Bytes compressed, std::uint64_t most, std::string& problem) {
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  constexpr std::uint64_t kFirst = 1u << 16;
  z_stream stream{};
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) throw std::bad_alloc();
  struct End {
    z_stream& stream;
    ~End() { inflateEnd(&stream); }
  } end{stream};
  std::vector<std::uint8_t> out;
  std::uint64_t filled = 0;
  problem.clear();
  while (filled < most) {
    if (filled == out.size()) out.resize(std::min(most, std::max(kFirst, 2 * filled)));
    constexpr std::uint64_t kMostAtOnce = std::numeric_limits<uInt>::max();
    stream.next_in = const_cast<std::uint8_t*>(compressed.data());
    stream.avail_in = static_cast<uInt>(std::min<std::uint64_t>(compressed.size(), kMostAtOnce));
    stream.next_out = out.data() + filled;
    stream.avail_out = static_cast<uInt>(std::min(out.size() - filled, kMostAtOnce));
    const int code = inflate(&stream, Z_NO_FLUSH);
    filled = static_cast<std::uint64_t>(stream.next_out - out.data());
    compressed = compressed.subspan(static_cast<std::size_t>(stream.next_in - compressed.data()));
    if (code == Z_STREAM_END) {
      if (compressed.empty()) break;
      inflateReset(&stream);
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      problem = std::string("its compressed data is damaged (") + (stream.msg ? stream.msg : "unknown") + ")";
      break;
    } else if (compressed.empty() && stream.avail_out > 0) {
      problem = "its compressed data ends early";
      break;
    }
  }
  out.resize(filled);
  return out;
}

}  // namespace tandem::formats
