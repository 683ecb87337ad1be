#include "data/recordio/repair.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/atomic_file.h"
#include "base/crc32c.h"
#include "base/lost_pages.h"
#include "base/mapped_file.h"
#include "base/shown_path.h"
#include "data/recordio/record_file.h"
#include "data/recordio/v1_format.h"
#include "data/recordio/v2_chunks.h"
#include "tandem/error.h"
#include "tandem/recordio.h"

namespace tandem {

using namespace recordio;

namespace {

// Bytes that no good chunk covers, said in one line for each row of them.
class Losses {
 public:
  void add(std::uint64_t begin, std::uint64_t end, const std::string& reason) {
    if (begin_ == end_) {
      begin_ = begin;
      reason_ = reason;
    }
    end_ = end;
  }

  bool empty() const { return begin_ == end_; }

  // `more` says what is known beside the place: "records 4 to 7".
  void flush(RecordIORepair& report, const std::string& more = "") {
    if (begin_ != end_) {
      report.lost.push_back("bytes " + std::to_string(begin_) + " to " + std::to_string(end_ - 1) +
                            (more.empty() ? "" : ", " + more) + ": " + reason_);
    }
    begin_ = end_ = 0;
  }

 private:
  std::uint64_t begin_ = 0, end_ = 0;
  std::string reason_;
};

std::string records_text(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return "";
  return end - begin == 1 ? "record " + std::to_string(begin)
                          : "records " + std::to_string(begin) + " to " + std::to_string(end - 1);
}

// A chunk that is whole and good.
struct GoodChunk {
  std::uint64_t bytes;  // in the file
  std::int64_t records;
};

// Throws Damaged and TooLarge.
GoodChunk check_v1_chunk(Bytes rest, RecordIODialect dialect, std::uint64_t most) {
  const ChunkHeader header = decode_header(rest, rest.size(), dialect);
  const Bytes stored = rest.subspan(kHeaderBytes, header.stored_size);
  check_payload(stored, header.checksum, dialect);
  Buffer memory;
  index_records(decompress(stored, header.compressor, dialect, most, memory), header.records);
  return {kHeaderBytes + header.stored_size, header.records};
}

// The same, of whichever dialect the first good chunk is, which is that of the whole file.
GoodChunk check_v1_chunk(Bytes rest, std::optional<RecordIODialect>& dialect, std::uint64_t most) {
  if (dialect) return check_v1_chunk(rest, *dialect, most);
  for (const RecordIODialect other : {RecordIODialect::kPaddle, RecordIODialect::kPyRecordIO}) {
    try {
      const GoodChunk chunk = check_v1_chunk(rest, other, most);
      if (chunk.records > 0) dialect = other;
      return chunk;
    } catch (const Damaged&) {
    }
  }
  const GoodChunk chunk = check_v1_chunk(rest, RecordIODialect::kOriginal, most);
  if (chunk.records > 0) dialect = RecordIODialect::kOriginal;
  return chunk;
}

// What is looked through, here and below; without a target nothing is kept.
struct Damage {
  const std::string& file;
  Bytes bytes;
  std::uint64_t most_chunk_bytes;
  AtomicFile* target;

  // A whole chunk, which is neither kept unread nor said to be lost.
  [[noreturn]] void throw_too_large(std::size_t chunk, std::uint64_t at, const TooLarge& what) const {
    recordio::throw_too_large(file, chunk, at, what.bytes, most_chunk_bytes);
  }
};

RecordIORepair repair_v1(const Damage& damage, std::optional<RecordIODialect> dialect) {
  const auto& [file, bytes, most, target] = damage;
  RecordIORepair report;
  Losses losses;
  for (std::uint64_t at = 0; at < bytes.size();) {
    const Bytes rest = bytes.subspan(at);
    try {
      const GoodChunk chunk = check_v1_chunk(rest, dialect, most);
      losses.flush(report);
      if (target) target->append(rest.data(), chunk.bytes);
      report.records += chunk.records;
      report.chunks += 1;
      at += chunk.bytes;
    } catch (const TooLarge& what) {
      damage.throw_too_large(report.chunks, at, what);
    } catch (const Damaged& what) {
      const std::uint8_t magic[] = {0x04, 0x03, 0x02, 0x01};
      const auto next = std::search(rest.begin() + 1, rest.end(), std::begin(magic), std::end(magic));
      const std::uint64_t end = at + static_cast<std::uint64_t>(next - rest.begin());
      losses.add(at, end, what.reason);
      at = end;
    }
  }
  losses.flush(report);
  return report;
}

// Where a v2 file's own parts are, as far as they are whole.
struct V2Parts {
  std::optional<v2::SyncMarker> sync;
  std::string metadata = v2::encode_metadata({});
  std::uint64_t first_chunk = v2::kBlock;
};

V2Parts find_parts(Bytes bytes, RecordIORepair& report) {
  V2Parts parts;
  try {
    const v2::FileHeader header = v2::decode_file_header(bytes.first(v2::kBlock));
    parts.sync = header.sync;
    const std::uint64_t padded = v2::padded(header.metadata_bytes);
    if (padded > bytes.size() - v2::kBlock) throw Damaged{"it is cut off"};
    parts.first_chunk += padded;
    const Bytes metadata = bytes.subspan(v2::kBlock, padded);
    if (crc32c(metadata) != header.metadata_crc) throw Damaged{"their checksum does not match"};
    v2::decode_metadata(metadata.first(header.metadata_bytes));
    parts.metadata.assign(metadata.begin(), metadata.begin() + static_cast<std::ptrdiff_t>(header.metadata_bytes));
  } catch (const Damaged& what) {
    report.lost.push_back("schema and metadata: " + what.reason);
  }
  return parts;
}

RecordIORepair repair_v2(const Damage& damage) {
  const auto& [file, bytes, most, target] = damage;
  RecordIORepair report;
  V2Parts parts = find_parts(bytes, report);
  std::optional<v2::ChunkWriter> writer;
  if (target) writer.emplace(*target, parts.metadata);
  Losses losses;
  std::uint64_t expected = 0;  // the record that comes next
  bool ended = false;          // the footer was seen
  for (std::uint64_t at = parts.first_chunk; at < bytes.size();) {
    try {
      const v2::ChunkHeader header = v2::check_chunk(bytes, at);
      // A file within a record has chunks too.
      if (parts.sync && header.sync != *parts.sync) throw Damaged{"a chunk of another file"};
      parts.sync = header.sync;
      if (header.type == v2::ChunkType::kRecords) {
        if (header.codec != Compressor::kNone) require_at_most(header.content_bytes, most);
        Buffer memory;
        const v2::RecordTable table(v2::chunk_content(bytes, at, header, memory), header.records, header.alignment);
        if (writer) {
          writer->append(header.records, header.codec, header.alignment, header.content_bytes,
                         bytes.subspan(at + v2::kBlock, header.stored_bytes));
        }
        report.records += static_cast<std::int64_t>(header.records);
        report.chunks += 1;
      }
      losses.flush(report, records_text(expected, header.first_record));
      expected = header.first_record + (header.type == v2::ChunkType::kRecords ? header.records : 0);
      at += header.whole_bytes();
      if (header.type == v2::ChunkType::kFooter) {
        ended = true;
        break;
      }
    } catch (const TooLarge& what) {
      damage.throw_too_large(report.chunks, at, what);
    } catch (const Damaged& what) {
      const std::uint64_t end = std::min<std::uint64_t>(bytes.size(), at + v2::kBlock);
      losses.add(at, end, what.reason);
      at = end;
    }
  }
  if (!ended) {
    const std::string rest = expected == 0 ? "all records" : "all after record " + std::to_string(expected - 1);
    if (losses.empty()) report.lost.push_back("the end of the file, and " + rest + " that there were");
    losses.flush(report, "and " + rest + " that there were");
  }
  if (writer) writer->finish();
  return report;
}

// Where the beginning is damaged, later blocks tell.
bool is_v2(Bytes bytes) {
  if (bytes.size() < v2::kBlock || load_u32(bytes.data()) == kMagic) return false;
  if (std::equal(v2::kMagic.begin(), v2::kMagic.end(), bytes.begin())) return true;
  for (std::uint64_t at = v2::kBlock; at + v2::kBlock <= bytes.size(); at += v2::kBlock) {
    try {
      v2::check_chunk(bytes, at);
      return true;
    } catch (const Damaged&) {
    }
  }
  return false;
}

RecordIORepair repair(const Damage& damage, std::optional<RecordIODialect> dialect) {
  return is_v2(damage.bytes) ? repair_v2(damage) : repair_v1(damage, dialect);
}

}  // namespace

RecordIORepair recordio::scan_damage(const std::string& file, std::optional<RecordIODialect> dialect,
                                     std::uint64_t most_chunk_bytes) {
  LostReads lost;
  const MappedFile mapped(file);
  mapped.require(0, mapped.bytes().size());
  const RecordIORepair report = repair({file, mapped.bytes(), most_chunk_bytes, nullptr}, dialect);
  lost.require_none("a report of damage");
  return report;
}

RecordIORepair repair_recordio(const std::string& source, const std::string& target, std::uint64_t most_chunk_bytes) {
  if (is_remote(source)) {
    throw Error(ErrorCode::kInvalidArgument, shown_path(source) + " is on another host; copy it here to repair it");
  }
  std::error_code ignored;
  if (std::filesystem::equivalent(source, target, ignored)) {
    throw Error(ErrorCode::kInvalidArgument,
                shown_path(source) + " cannot be repaired in place; give another file to write");
  }
  LostReads lost;
  const MappedFile file(source);
  file.require(0, file.bytes().size());
  AtomicFile written(target);
  const RecordIORepair report = repair({source, file.bytes(), most_chunk_bytes, &written}, {});
  if (report.chunks == 0 && !report.lost.empty()) {  // a whole file may have no records
    throw Error(ErrorCode::kDataLoss, shown_path(source) + " has no whole chunk of RecordIO: nothing can be kept");
  }
  lost.require_none(target.c_str());
  written.commit();
  return report;
}

}  // namespace tandem
