#include "tandem/schema_dataset.h"

#include "core/call/guard.h"
#include "core/call/options.h"
#include "core/call/strings.h"
#include "core/data/dataset_handle.h"
#include "core/data/record_files.h"
#include "tandem/sample_options.h"

using namespace tandem::capi;

tdm_error* tdm_dataset_from_schema(const char* const* paths, size_t path_count, const tdm_schema_options* options,
                                   tdm_dataset** out) {
  return guard("tdm_dataset_from_schema", [&] {
    const auto files = to_strings(paths, path_count, "paths");
    not_null(out, "out");
    const auto given = read_options(options, tdm_schema_options TDM_SCHEMA_OPTIONS_INIT, "tdm_schema_options");
    tandem::SchemaDatasetOptions chosen;
    if (given.decoding) chosen.decoding = tandem::parse_decoder_options(given.decoding);
    if (given.collating) chosen.collating = tandem::parse_collate_options(given.collating);
    chosen.files = read_open_records_options(given.files);
    const tandem::SampleSchema schema =
        given.schema ? tandem::SampleSchema::parse(given.schema) : tandem::schema_of_files(files, chosen.files);
    *out = new tdm_dataset(tandem::schema_dataset(files, schema, chosen));
  });
}
