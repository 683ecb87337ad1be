#include "data/idx_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tandem/error.h"

namespace tandem {
namespace {

constexpr std::uint32_t kUnsignedBytes = 0x0800;  // the magic's second half is the number of dimensions
constexpr std::uint32_t kMaxItemBytes = 64u << 20;

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

gzFile gz(void* file) {
  return static_cast<gzFile>(file);
}

}  // namespace

IdxFile::IdxFile(std::string path, int dimensions, const std::string& kind) : path_(std::move(path)) {
  const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    throw Error(missing ? ErrorCode::kNotFound : ErrorCode::kIo,
                "cannot read the IDX file " + path_ + ": " + std::strerror(errno));
  }
  file_ = gzdopen(fd, "rb");
  if (!file_) {
    close(fd);
    throw std::bad_alloc();
  }
  gzbuffer(gz(file_), 1u << 18);
  try {
    std::uint8_t header[16];
    const std::size_t header_bytes = 4 + 4 * static_cast<std::size_t>(dimensions);
    if (read(header, 4) != 4) damaged("it is too short for an IDX file");
    const std::uint32_t expected = kUnsignedBytes | static_cast<std::uint32_t>(dimensions);
    if (const std::uint32_t magic = big_endian(header); magic != expected) {
      char text[96];
      std::snprintf(text, sizeof text, "its magic number is 0x%08x, but IDX %s begin with 0x%08x", magic, kind.c_str(),
                    expected);
      damaged(text);
    }
    if (read(header + 4, header_bytes - 4) != header_bytes - 4) damaged("it ends inside its header");
    std::uint64_t item = 1;
    for (int i = 0; i < dimensions; ++i) {
      sizes_.push_back(big_endian(header + 4 + 4 * i));
      if (i > 0) item *= sizes_.back();
      if (item > kMaxItemBytes || item == 0) damaged("its header declares images of an impossible size");
    }
    item_bytes_ = static_cast<std::size_t>(item);
  } catch (...) {
    gzclose(gz(file_));
    throw;
  }
}

IdxFile::~IdxFile() {
  gzclose(gz(file_));
}

std::size_t IdxFile::read(void* to, std::size_t size) {
  const int n = gzread(gz(file_), to, static_cast<unsigned>(size));
  int code = Z_OK;
  const char* message = gzerror(gz(file_), &code);
  if (code == Z_ERRNO) throw Error(ErrorCode::kIo, "cannot read " + path_ + ": " + std::strerror(errno));
  if (code == Z_BUF_ERROR) damaged("its compressed data ends early");
  if (code != Z_OK && code != Z_STREAM_END) damaged(std::string("its compressed data is damaged (") + message + ")");
  return n < 0 ? 0 : static_cast<std::size_t>(n);
}

void IdxFile::read_item(std::uint8_t* to) {
  if (read(to, item_bytes_) != item_bytes_) {
    damaged("its header declares " + std::to_string(sizes_[0]) + " items, but it ends inside item " +
            std::to_string(items_read_));
  }
  ++items_read_;
}

void IdxFile::expect_end() {
  std::uint8_t extra;
  if (read(&extra, 1) != 0) damaged("it has bytes after the " + std::to_string(sizes_[0]) + " items of its header");
}

void IdxFile::damaged(const std::string& what) const {
  throw Error(ErrorCode::kDataLoss, path_ + ": " + what);
}

}  // namespace tandem
