// Records of a schema as samples: decoded in a loader's threads, straight into a batch's tensors.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tandem/batch_builder.h"
#include "tandem/dataset.h"
#include "tandem/export.h"
#include "tandem/open_records.h"
#include "tandem/sample_schema.h"

namespace tandem {

struct SchemaDatasetOptions {
  SampleDecoderOptions decoding;
  CollateOptions collating;
  OpenRecordsOptions files;  // where it opens them itself
};

// A batch has a tensor for each field, and those that BatchBuilder adds beside fields of varying size. Random fits of
// pictures follow from a sample's randomness; get() and get_batch(), which are given none, take that of epoch 0 and
// seed 0. A sample's tensors are those of a batch of one; where fields are packed, its rows stay.
//
// Errors: kInvalidArgument for schemas and options. What a record has wrong is an error of the batch that it is in,
// with the record's place (file, chunk, number) and the field.
TANDEM_API std::shared_ptr<Dataset> schema_dataset(std::shared_ptr<RecordSource> source, const SampleSchema& schema,
                                                   const SchemaDatasetOptions& options = {});
// Of the files that open_records() takes, one after the other. Errors: those of open_records(), too.
TANDEM_API std::shared_ptr<Dataset> schema_dataset(const std::vector<std::string>& paths, const SampleSchema& schema,
                                                   const SchemaDatasetOptions& options = {});

// The schema that RecordIO files of version 2 carry: that of the first of these files. Errors: kNotFound where it has
// none; those of open_records() and SampleSchema::parse().
TANDEM_API SampleSchema schema_of_files(const std::vector<std::string>& paths, const OpenRecordsOptions& options = {});

}  // namespace tandem
