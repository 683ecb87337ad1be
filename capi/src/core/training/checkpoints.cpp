// Tensors in files.
#include "core/call/strings.h"
#include "core/handles/handles.h"
#include "tandem/safetensors.h"

using namespace tandem::capi;

tdm_error* tdm_safetensors_save(const char* path, const char* const* names, tdm_tensor* const* tensors,
                                std::size_t count, const char* const* metadata_keys, const char* const* metadata_values,
                                std::size_t metadata_count) {
  return guard("tdm_safetensors_save", [&] {
    not_null(path, "path");
    const auto labels = to_strings(names, count, "names");
    const auto values = unwrap_list(tensors, count, "tensors");
    const auto keys = to_strings(metadata_keys, metadata_count, "metadata_keys");
    const auto texts = to_strings(metadata_values, metadata_count, "metadata_values");
    check_utf8(labels, "names");
    check_utf8(keys, "metadata_keys");
    check_utf8(texts, "metadata_values");
    tandem::Safetensors content;
    for (std::size_t i = 0; i < count; ++i) content.tensors.emplace_back(labels[i], values[i]);
    for (std::size_t i = 0; i < metadata_count; ++i) content.metadata[keys[i]] = texts[i];
    tandem::save_safetensors(path, content);
  });
}

tdm_error* tdm_safetensors_load(const char* path, tdm_named_tensors** out, tdm_strings** metadata_keys,
                                tdm_strings** metadata_values) {
  return guard("tdm_safetensors_load", [&] {
    not_null(path, "path");
    not_null(out, "out");
    auto content = tandem::load_safetensors(path);
    std::vector<std::string> keys, values;
    for (auto& [key, value] : content.metadata) {
      keys.push_back(key);
      values.push_back(std::move(value));
    }
    auto list = std::make_unique<tdm_named_tensors>();
    list->items = std::move(content.tensors);
    auto key_list = std::make_unique<tdm_strings>(std::move(keys));
    auto value_list = std::make_unique<tdm_strings>(std::move(values));
    if (metadata_keys) *metadata_keys = key_list.release();
    if (metadata_values) *metadata_values = value_list.release();
    *out = list.release();
  });
}
