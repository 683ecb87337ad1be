// What checkpoints, elastic commits and parameter servers have in common.
#pragma once

#include <string>
#include <utility>

#include "core/call/guard.h"
#include "core/call/options.h"
#include "core/call/strings.h"
#include "core/handles/handles.h"
#include "tandem/checkpoint.h"

struct tdm_checkpoint : tandem::capi::Handle<tandem::Kind::kCheckpoint> {
  explicit tdm_checkpoint(tandem::Checkpoint read) : checkpoint(std::move(read)) {}

  tandem::Checkpoint checkpoint;
};

struct tdm_checkpoint_folder : tandem::capi::Handle<tandem::Kind::kCheckpointFolder> {
  tdm_checkpoint_folder(const char* path, tandem::CheckpointOptions options) : folder(path, std::move(options)) {}

  tandem::CheckpointFolder folder;
};

namespace tandem::capi {

inline CheckpointRequest to_request(const tdm_checkpoint_selection* selection) {
  const auto given =
      read_options<tdm_checkpoint_selection>(selection, TDM_CHECKPOINT_SELECTION_INIT, "tdm_checkpoint_selection");
  if (given.step < -1) invalid("step is " + std::to_string(given.step) + "; give -1 for the newest");
  CheckpointRequest request{.sections = to_strings(given.sections, given.section_count, "sections"),
                            .without = to_strings(given.without, given.without_count, "without"),
                            .prefixes = to_strings(given.prefixes, given.prefix_count, "prefixes")};
  if (given.step >= 0) request.step = given.step;
  return request;
}

// Null where none was ever saved.
inline tdm_checkpoint* load_checkpoint(tdm_checkpoint_folder& folder, const CheckpointRequest& request) {
  auto read = folder.folder.load(request);
  return read ? new tdm_checkpoint(*std::move(read)) : nullptr;
}

inline OwnTensor own_tensor(const tdm_checkpoint_tensor& given, const std::string& argument) {
  OwnTensor own{given.name, unwrap(given.tensor, argument.c_str())};
  if (given.ndim < 0 || given.ndim > 64) invalid("argument '" + argument + "' has ndim " + std::to_string(given.ndim));
  if (given.ndim > 0) {
    own.whole.assign(not_null(given.whole, argument.c_str()), given.whole + given.ndim);
    own.begin.assign(not_null(given.begin, argument.c_str()), given.begin + given.ndim);
  }
  return own;
}

inline CheckpointContent content_of(const tdm_checkpoint_tensor* tensors, std::size_t count, const char* values) {
  check_count(count, "tensors");
  if (count != 0) not_null(tensors, "tensors");
  CheckpointContent content;
  if (values) content.values = values;
  for (std::size_t i = 0; i < count; ++i) {
    const tdm_checkpoint_tensor& given = tensors[i];
    const std::string argument = "tensors[" + std::to_string(i) + "]";
    not_null(given.section, (argument + ".section").c_str());
    check_utf8(not_null(given.name, (argument + ".name").c_str()), argument + ".name");
    if (given.own < 0 || given.own > 1) invalid("argument '" + argument + "' has own " + std::to_string(given.own));
    if (given.own == 1) {
      content.own[given.section].push_back(own_tensor(given, argument));
    } else if (given.ndim != 0) {
      invalid("argument '" + argument + "' is a part, but not own");
    } else {
      content.replicated[given.section].emplace_back(given.name, unwrap(given.tensor, (argument + ".tensor").c_str()));
    }
  }
  return content;
}

}  // namespace tandem::capi
