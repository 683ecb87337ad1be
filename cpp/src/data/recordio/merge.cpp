#include "base/atomic_file.h"
#include "base/lost_pages.h"
#include "base/shown_path.h"
#include "data/recordio/record_file.h"
#include "data/recordio/v1_format.h"
#include "data/recordio/v2_chunks.h"
#include "tandem/error.h"

namespace tandem {

using namespace recordio;

namespace {

struct Part {
  std::shared_ptr<DataFile> file;
  std::unique_ptr<RecordFile> records;
};

Part open_part(const std::string& path, const RecordIOReaderOptions& options = {}) {
  Part part{open_data_file(path), nullptr};
  part.records = open_record_file(part.file, options, nullptr);
  return part;
}

// What both say.
void keep_common(RecordIOMetadata& common, const RecordIOMetadata& other) {
  if (common.schema != other.schema) common.schema.clear();
  std::erase_if(common.user, [&](const auto& entry) {
    const auto theirs = other.user.find(entry.first);
    return theirs == other.user.end() || theirs->second != entry.second;
  });
}

// Refuses files that cannot be parts of one; returns the metadata of the whole.
RecordIOMetadata check_parts(const std::vector<std::string>& sources) {
  const Part first = open_part(sources[0]);
  RecordIOMetadata common = first.records->metadata();
  std::optional<RecordIODialect> dialect;  // of the first that has records: without any there is none
  for (const std::string& source : sources) {
    const Part part = open_part(source);
    if (!dialect && part.records->size() > 0) dialect = part.records->dialect();
    if (part.records->version() != first.records->version() ||
        (part.records->size() > 0 && part.records->dialect() != *dialect)) {
      throw Error(ErrorCode::kInvalidArgument, part.file->name() +
                                                   " is of another version or dialect of RecordIO than those before "
                                                   "it; write all anew with `tandem record convert`");
    }
    keep_common(common, part.records->metadata());
  }
  return common;
}

void append_chunk(const Part& part, std::size_t number, AtomicFile& target, std::optional<v2::ChunkWriter>& writer) {
  const RecordIOChunk chunk = part.records->chunk(number);
  part.records->verify(number);
  if (!writer) {
    const Record whole = part.file->read(chunk.offset, kHeaderBytes + chunk.stored_size);
    target.append(whole.bytes.data(), whole.bytes.size());
    return;
  }
  const Record whole = part.file->read(chunk.offset, v2::kBlock + chunk.stored_size);
  const v2::ChunkHeader header = v2::decode_chunk_header(whole.bytes.first(v2::kBlock));
  writer->append(header.records, header.codec, header.alignment, header.content_bytes, whole.bytes.subspan(v2::kBlock));
}

}  // namespace

std::int64_t merge_recordio(const std::vector<std::string>& sources, const std::string& target,
                            const std::function<void()>& merged, std::uint64_t most_chunk_bytes) {
  if (sources.empty())
    throw Error(ErrorCode::kInvalidArgument, "no files to merge into " + shown_path(target) + " are given");
  const RecordIOMetadata metadata = check_parts(sources);
  LostReads lost;
  AtomicFile file(target);
  std::optional<v2::ChunkWriter> writer;
  if (open_part(sources[0]).records->version() == 2) writer.emplace(file, v2::encode_metadata(metadata));
  RecordIOReaderOptions reading;
  reading.most_chunk_bytes = most_chunk_bytes;
  std::int64_t records = 0;
  for (const std::string& source : sources) {
    const Part part = open_part(source, reading);
    for (std::size_t i = 0; i < part.records->chunk_count(); ++i) append_chunk(part, i, file, writer);
    records += part.records->size();
    if (merged) merged();
  }
  if (writer) writer->finish();
  lost.require_none(target.c_str());
  file.commit();
  return records;
}

}  // namespace tandem
