// Checkpoints of a training.
#pragma once

#include <string>
#include <vector>

#include "tandem/abi/dist.hpp"
#include "tandem/abi/tensor.hpp"

namespace tandem::abi {

// A checkpoint that was read.
class LoadedCheckpoint {
 public:
  explicit LoadedCheckpoint(tdm_checkpoint* owned) : handle_(owned) {}

  // False: there was none to load, and nothing else is known of it.
  bool found() const { return handle_.get() != nullptr; }
  int64_t step() const { return tdm_checkpoint_step(handle_.get()); }
  int32_t world_size() const { return tdm_checkpoint_world_size(handle_.get()); }
  std::string values() const { return tdm_checkpoint_values(handle_.get()); }
  // Why later ones were not used.
  std::vector<std::string> refused() const {
    tdm_strings* list = nullptr;
    check(tdm_checkpoint_refused(handle_.get(), &list));
    return take_strings(list);
  }
  std::vector<std::string> sections() const {
    tdm_strings* list = nullptr;
    check(tdm_checkpoint_sections(handle_.get(), &list));
    return take_strings(list);
  }
  NamedTensors tensors(const std::string& section) const {
    tdm_named_tensors* list = nullptr;
    check(tdm_checkpoint_tensors(handle_.get(), section.c_str(), &list));
    return NamedTensors(list);
  }

  tdm_checkpoint* raw() const noexcept { return handle_.get(); }

 private:
  Handle<tdm_checkpoint, tdm_checkpoint_free> handle_;
};

// Tensors of this process's own, or its parts of larger ones, with their sections and names.
class OwnTensors {
 public:
  explicit OwnTensors(tdm_own_tensors* owned) : handle_(owned) {}

  size_t size() const { return tdm_own_tensors_size(raw()); }
  // All of them for a save. They are valid as long as this object and what is added to `held`.
  void add_to(std::vector<tdm_checkpoint_tensor>& list, std::vector<Tensor>& held) const {
    for (size_t i = 0; i < size(); ++i) {
      tdm_tensor* tensor = nullptr;
      check(tdm_own_tensors_get(raw(), i, &tensor));
      held.emplace_back(tensor);
      const int64_t* const whole = tdm_own_tensors_whole(raw(), i);
      list.push_back({tdm_own_tensors_section(raw(), i), tdm_own_tensors_name(raw(), i), tensor, 1,
                      whole ? static_cast<int32_t>(held.back().dim()) : 0, whole, tdm_own_tensors_begin(raw(), i)});
    }
  }

  tdm_own_tensors* raw() const noexcept { return handle_.get(); }

 private:
  Handle<tdm_own_tensors, tdm_own_tensors_free> handle_;
};

// Of tensor i the section, the name, and whether it is this rank's alone. Valid as long as what is given stays as it is.
inline std::vector<tdm_checkpoint_tensor> checkpoint_tensors(const char* operation, const std::vector<std::string>& sections,
                                                             const std::vector<std::string>& names, const TensorList& tensors,
                                                             const std::vector<uint8_t>& own) {
  if (sections.size() != tensors.size() || names.size() != tensors.size() || own.size() != tensors.size()) {
    throw Error(TDM_ERROR_INVALID_ARGUMENT, operation, "give a section and a name for each tensor");
  }
  std::vector<tdm_checkpoint_tensor> list;
  for (size_t i = 0; i < tensors.size(); ++i) {
    list.push_back({sections[i].c_str(), names[i].c_str(), tensors.data()[i], own[i] != 0, 0, nullptr, nullptr});
  }
  return list;
}

// A folder that gets one checkpoint a save; tandem.h says what all of it does.
class CheckpointFolder {
 public:
  // `keep`: how many stay; 0: all. `group` may be null: one process.
  CheckpointFolder(const std::string& path, int64_t keep, const ProcessGroup* group) {
    tdm_checkpoint_folder_options options = TDM_CHECKPOINT_FOLDER_OPTIONS_INIT;
    options.keep = keep;
    check(tdm_checkpoint_folder_create(path.c_str(), &options, group ? group->raw() : nullptr, handle_.out()));
  }

  // Of tensor i the section, the name, and whether it is this rank's alone. `async`: beside training. `more` may be null.
  void save(int64_t step, const std::vector<std::string>& sections, const std::vector<std::string>& names,
            const TensorList& tensors, const std::vector<uint8_t>& own, const std::string& values, bool async,
            const OwnTensors* more = nullptr) {
    auto list = checkpoint_tensors("CheckpointFolder::save", sections, names, tensors, own);
    std::vector<Tensor> held;
    if (more) more->add_to(list, held);
    const auto call = async ? tdm_checkpoint_folder_save_async : tdm_checkpoint_folder_save;
    check(call(handle_.get(), step, list.data(), list.size(), values.c_str()));
  }
  // Instead of it, where this rank cannot make what it would save: the others are told why. Throws.
  void save_failed(int64_t step, bool async, const std::string& reason) {
    check(tdm_checkpoint_folder_save_failed(handle_.get(), step, async, reason.c_str()));
  }
  bool saving() const { return tdm_checkpoint_folder_saving(handle_.get()) != 0; }
  // Until no save goes on; its error, once.
  void wait() { check(tdm_checkpoint_folder_wait(handle_.get())); }
  // The same before the end of the object, but does not wait for ranks whose processes stand still.
  void finish() { check(tdm_checkpoint_folder_close(handle_.get())); }
  std::vector<int64_t> steps() const {
    std::vector<int64_t> steps(64);
    for (;;) {
      size_t count = steps.size();
      check(tdm_checkpoint_folder_steps(handle_.get(), steps.data(), &count));
      const bool all = count <= steps.size();
      steps.resize(count);
      if (all) return steps;
    }
  }
  // Ends a save beside training that waits for other ranks. From any thread.
  void abort() { check(tdm_checkpoint_folder_abort(handle_.get())); }
  // The newest that is whole, or with `step` from 0 that one. Of the given sections, tensors whose names begin with one
  // of the prefixes; none: all.
  LoadedCheckpoint load(int64_t step, const std::vector<std::string>& sections,
                        const std::vector<std::string>& prefixes) {
    const auto names = c_strings(sections), beginnings = c_strings(prefixes);
    tdm_checkpoint_selection selection = TDM_CHECKPOINT_SELECTION_INIT;
    selection.step = step;
    selection.sections = names.data();
    selection.section_count = names.size();
    selection.prefixes = beginnings.data();
    selection.prefix_count = beginnings.size();
    tdm_checkpoint* read = nullptr;
    check(tdm_checkpoint_folder_load_part(handle_.get(), &selection, &read));
    return LoadedCheckpoint(read);
  }
  // Whether this rank could use what was loaded: "", or why not. Throws where any rank could not.
  void agree(const std::string& failure) {
    check(tdm_checkpoint_folder_agree(handle_.get(), failure.empty() ? nullptr : failure.c_str()));
  }

  tdm_checkpoint_folder* raw() const noexcept { return handle_.get(); }

 private:
  Handle<tdm_checkpoint_folder, tdm_checkpoint_folder_free> handle_;
};

}  // namespace tandem::abi
