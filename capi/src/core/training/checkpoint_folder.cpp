// Checkpoints of a training.
#include "tandem/checkpoint.h"

#include "core/call/strings.h"
#include "core/comm/groups.h"
#include "core/handles/handles.h"
#include "core/training/checkpoint_handle.h"

using namespace tandem::capi;

namespace {

// Why a rank failed. Without a word the others would take it for no failure.
const char* told(const char* reason) {
  return *reason ? reason : "the program gave no reason";
}

}  // namespace

tdm_error* tdm_checkpoint_folder_create(const char* path, const tdm_checkpoint_folder_options* options,
                                        tdm_process_group* group, tdm_checkpoint_folder** out) {
  return guard("tdm_checkpoint_folder_create", [&] {
    not_null(path, "path");
    not_null(out, "out");
    const auto given = read_options<tdm_checkpoint_folder_options>(options, TDM_CHECKPOINT_FOLDER_OPTIONS_INIT,
                                                                   "tdm_checkpoint_folder_options");
    if (given.keep < 0) invalid("keep is " + std::to_string(given.keep) + "; give 0 to keep all checkpoints");
    tandem::CheckpointOptions made{static_cast<std::size_t>(given.keep), nullptr};
    if (group) made.group = share_group(group);
    *out = new tdm_checkpoint_folder(path, std::move(made));
  });
}

void tdm_checkpoint_folder_free(tdm_checkpoint_folder* folder) {
  free_handle("tdm_checkpoint_folder_free", folder);
}

const char* tdm_checkpoint_folder_path(const tdm_checkpoint_folder* folder) {
  return if_live(folder) ? folder->folder.path().c_str() : "";
}

tdm_error* tdm_checkpoint_folder_save(tdm_checkpoint_folder* folder, std::int64_t step,
                                      const tdm_checkpoint_tensor* tensors, std::size_t tensor_count,
                                      const char* values) {
  return guard("tdm_checkpoint_folder_save", [&] {
    not_null(folder, "folder")->folder.save(step, [&] { return content_of(tensors, tensor_count, values); });
  });
}

tdm_error* tdm_checkpoint_folder_save_async(tdm_checkpoint_folder* folder, std::int64_t step,
                                            const tdm_checkpoint_tensor* tensors, std::size_t tensor_count,
                                            const char* values) {
  return guard("tdm_checkpoint_folder_save_async", [&] {
    not_null(folder, "folder")->folder.save_async(step, [&] { return content_of(tensors, tensor_count, values); });
  });
}

tdm_error* tdm_checkpoint_folder_save_failed(tdm_checkpoint_folder* folder, std::int64_t step, std::int32_t beside,
                                             const char* reason) {
  return guard("tdm_checkpoint_folder_save_failed", [&] {
    not_null(folder, "folder");
    if (beside < 0 || beside > 1) invalid("beside is " + std::to_string(beside) + ", neither 0 nor 1");
    check_utf8(not_null(reason, "reason"), "reason");
    const tandem::CheckpointFolder::Make fails = [&]() -> tandem::CheckpointContent {
      throw tandem::Error(tandem::ErrorCode::kCallback, told(reason));
    };
    if (beside) {
      folder->folder.save_async(step, fails);
      folder->folder.wait();
    } else {
      folder->folder.save(step, fails);
    }
  });
}

std::int32_t tdm_checkpoint_folder_saving(const tdm_checkpoint_folder* folder) {
  return if_live(folder) && folder->folder.saving();
}

tdm_error* tdm_checkpoint_folder_wait(tdm_checkpoint_folder* folder) {
  return guard("tdm_checkpoint_folder_wait", [&] { not_null(folder, "folder")->folder.wait(); });
}

tdm_error* tdm_checkpoint_folder_close(tdm_checkpoint_folder* folder) {
  return guard("tdm_checkpoint_folder_close", [&] { not_null(folder, "folder")->folder.close(); });
}

tdm_error* tdm_checkpoint_folder_steps(const tdm_checkpoint_folder* folder, std::int64_t* steps,
                                       std::size_t* step_count) {
  return guard("tdm_checkpoint_folder_steps", [&] {
    not_null(folder, "folder");
    const std::size_t room = *not_null(step_count, "step_count");
    check_count(room, "steps");
    if (room != 0) not_null(steps, "steps");
    const auto found = folder->folder.steps();
    std::copy_n(found.begin(), std::min(room, found.size()), steps);
    *step_count = found.size();
  });
}

tdm_error* tdm_checkpoint_folder_load(tdm_checkpoint_folder* folder, std::int64_t step, const char* const* sections,
                                      std::size_t section_count, tdm_checkpoint** out) {
  return guard("tdm_checkpoint_folder_load", [&] {
    not_null(folder, "folder");
    not_null(out, "out");
    tdm_checkpoint_selection selection = TDM_CHECKPOINT_SELECTION_INIT;
    selection.step = step;
    selection.sections = sections;
    selection.section_count = section_count;
    *out = load_checkpoint(*folder, to_request(&selection));
  });
}

tdm_error* tdm_checkpoint_folder_load_part(tdm_checkpoint_folder* folder, const tdm_checkpoint_selection* selection,
                                           tdm_checkpoint** out) {
  return guard("tdm_checkpoint_folder_load_part", [&] {
    not_null(folder, "folder");
    not_null(out, "out");
    *out = load_checkpoint(*folder, to_request(selection));
  });
}

tdm_error* tdm_checkpoint_folder_agree(tdm_checkpoint_folder* folder, const char* failure) {
  return guard("tdm_checkpoint_folder_agree", [&] {
    not_null(folder, "folder")->folder.together([&] {
      if (failure) throw tandem::Error(tandem::ErrorCode::kCallback, told(failure));
    });
  });
}

tdm_error* tdm_checkpoint_folder_abort(tdm_checkpoint_folder* folder) {
  return guard("tdm_checkpoint_folder_abort", [&] { not_null(folder, "folder")->folder.abort(); });
}

void tdm_checkpoint_free(tdm_checkpoint* checkpoint) {
  free_handle("tdm_checkpoint_free", checkpoint);
}

std::int64_t tdm_checkpoint_step(const tdm_checkpoint* checkpoint) {
  return if_live(checkpoint) ? checkpoint->checkpoint.step : -1;
}

std::int32_t tdm_checkpoint_world_size(const tdm_checkpoint* checkpoint) {
  return if_live(checkpoint) ? checkpoint->checkpoint.world_size : -1;
}

const char* tdm_checkpoint_values(const tdm_checkpoint* checkpoint) {
  return if_live(checkpoint) ? checkpoint->checkpoint.values.c_str() : "";
}

tdm_error* tdm_checkpoint_refused(const tdm_checkpoint* checkpoint, tdm_strings** out) {
  return guard("tdm_checkpoint_refused", [&] {
    not_null(checkpoint, "checkpoint");
    not_null(out, "out");
    *out = std::make_unique<tdm_strings>(checkpoint->checkpoint.refused).release();
  });
}

tdm_error* tdm_checkpoint_sections(const tdm_checkpoint* checkpoint, tdm_strings** out) {
  return guard("tdm_checkpoint_sections", [&] {
    not_null(checkpoint, "checkpoint");
    not_null(out, "out");
    std::vector<std::string> names;
    for (const auto& section : checkpoint->checkpoint.sections) names.push_back(section.first);
    *out = std::make_unique<tdm_strings>(std::move(names)).release();
  });
}

tdm_error* tdm_checkpoint_tensors(const tdm_checkpoint* checkpoint, const char* section, tdm_named_tensors** out) {
  return guard("tdm_checkpoint_tensors", [&] {
    const auto& sections = not_null(checkpoint, "checkpoint")->checkpoint.sections;
    not_null(section, "section");
    not_null(out, "out");
    const auto found = sections.find(section);
    if (found == sections.end()) {
      std::string known;
      for (const auto& each : sections) known += (known.empty() ? "" : ", ") + each.first;
      throw tandem::Error(tandem::ErrorCode::kNotFound, std::string("the checkpoint has no section '") + section + "'" +
                                                            (known.empty() ? "" : "; it has " + known));
    }
    auto list = std::make_unique<tdm_named_tensors>();
    list->items = found->second;
    *out = list.release();
  });
}
