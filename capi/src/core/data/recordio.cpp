#include "tandem/recordio.h"

#include "core/call/guard.h"
#include "core/call/options.h"
#include "core/call/strings.h"
#include "core/handles/handle.h"

using tandem::Kind;
using tandem::capi::guard;
using tandem::capi::if_live;
using tandem::capi::invalid;
using tandem::capi::not_null;

struct tdm_recordio_writer : tandem::capi::Handle<Kind::kRecordIOWriter> {
  tdm_recordio_writer(const char* path, const tandem::RecordIOWriterOptions& options) : writer(path, options) {}
  tandem::RecordIOWriter writer;
};

struct tdm_recordio_reader : tandem::capi::Handle<Kind::kRecordIOReader> {
  explicit tdm_recordio_reader(const char* path) : reader(path) {
    for (const auto& pair : reader.metadata().user) metadata.push_back(&pair);
  }
  tandem::RecordIOReader reader;
  std::vector<const std::pair<const std::string, std::string>*> metadata;
};

tdm_error* tdm_recordio_writer_create(const char* path, const tdm_recordio_writer_options* options,
                                      tdm_recordio_writer** out) {
  return guard("tdm_recordio_writer_create", [&] {
    not_null(path, "path");
    not_null(out, "out");
    const auto given = tandem::capi::read_options(options, tdm_recordio_writer_options TDM_RECORDIO_WRITER_OPTIONS_INIT,
                                                  "tdm_recordio_writer_options");
    if (given.compressor < 0) invalid("compressor " + std::to_string(given.compressor) + " is none of 0, 1, 2, 3");
    if (given.alignment < 0 || given.alignment > 64) {
      invalid("alignment " + std::to_string(given.alignment) + " is no power of two from 1 to 64");
    }
    tandem::RecordIOWriterOptions chosen;
    chosen.compressor = static_cast<tandem::Compressor>(given.compressor);
    chosen.chunk_bytes = given.chunk_bytes;
    if (given.version != 0) chosen.version = given.version;
    if (given.level != 0) chosen.level = given.level;
    if (given.alignment != 0) chosen.alignment = static_cast<std::uint32_t>(given.alignment);
    if (given.schema) chosen.metadata.schema = given.schema;
    const auto keys = tandem::capi::to_strings(given.metadata_keys, given.metadata_count, "metadata_keys");
    const auto values = tandem::capi::to_strings(given.metadata_values, given.metadata_count, "metadata_values");
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!chosen.metadata.user.emplace(keys[i], values[i]).second) invalid("metadata has \"" + keys[i] + "\" twice");
    }
    *out = new tdm_recordio_writer(path, chosen);
  });
}

tdm_error* tdm_recordio_writer_write(tdm_recordio_writer* writer, const void* data, size_t size) {
  return guard("tdm_recordio_writer_write", [&] {
    not_null(writer, "writer");
    if (size > 0) not_null(data, "data");
    writer->writer.write(data, size);
  });
}

tdm_error* tdm_recordio_writer_close(tdm_recordio_writer* writer) {
  return guard("tdm_recordio_writer_close", [&] { not_null(writer, "writer")->writer.close(); });
}

void tdm_recordio_writer_free(tdm_recordio_writer* writer) {
  tandem::capi::free_handle(writer);
}

tdm_error* tdm_recordio_reader_create(const char* path, tdm_recordio_reader** out) {
  return guard("tdm_recordio_reader_create", [&] {
    not_null(out, "out");
    *out = new tdm_recordio_reader(not_null(path, "path"));
  });
}

int64_t tdm_recordio_reader_count(const tdm_recordio_reader* reader) {
  return if_live(reader) ? reader->reader.size() : 0;
}

tdm_error* tdm_recordio_reader_get(tdm_recordio_reader* reader, int64_t index, const void** data, size_t* size) {
  return guard("tdm_recordio_reader_get", [&] {
    not_null(reader, "reader");
    not_null(data, "data");
    not_null(size, "size");
    const auto record = reader->reader[index];
    *data = record.data();
    *size = record.size();
  });
}

tdm_error* tdm_recordio_reader_copy(tdm_recordio_reader* reader, int64_t index, void* destination, size_t bytes) {
  return guard("tdm_recordio_reader_copy", [&] {
    not_null(reader, "reader");
    if (bytes > 0) not_null(destination, "destination");
    reader->reader.copy(index, {static_cast<std::uint8_t*>(destination), bytes});
  });
}

int32_t tdm_recordio_reader_version(const tdm_recordio_reader* reader) {
  return if_live(reader) ? reader->reader.version() : 0;
}

const char* tdm_recordio_reader_schema(const tdm_recordio_reader* reader) {
  return if_live(reader) ? reader->reader.metadata().schema.c_str() : "";
}

int64_t tdm_recordio_reader_metadata_count(const tdm_recordio_reader* reader) {
  return if_live(reader) ? static_cast<int64_t>(reader->metadata.size()) : 0;
}

const char* tdm_recordio_reader_metadata_key(const tdm_recordio_reader* reader, int64_t index) {
  const bool there = index >= 0 && index < tdm_recordio_reader_metadata_count(reader);
  return there ? reader->metadata[static_cast<std::size_t>(index)]->first.c_str() : nullptr;
}

const char* tdm_recordio_reader_metadata_value(const tdm_recordio_reader* reader, int64_t index) {
  const bool there = index >= 0 && index < tdm_recordio_reader_metadata_count(reader);
  return there ? reader->metadata[static_cast<std::size_t>(index)]->second.c_str() : nullptr;
}

void tdm_recordio_reader_free(tdm_recordio_reader* reader) {
  tandem::capi::free_handle(reader);
}
