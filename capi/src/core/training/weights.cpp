// Tensors in files, and how their names are matched.
#include <memory>
#include <utility>

#include "core/call/options.h"
#include "core/call/strings.h"
#include "core/handles/handles.h"
#include "core/operators/value_memory.h"
#include "core/training/pt_values.h"
#include "tandem/match_tensors.h"
#include "tandem/pt_file.h"
#include "tandem/rename_tensors.h"
#include "tandem/sharded_safetensors.h"

using namespace tandem::capi;

namespace {

tandem::NamedTensors named(const char* const* names, tdm_tensor* const* tensors, std::size_t count,
                           const std::string& names_argument, const char* tensors_argument) {
  const auto labels = to_strings(names, count, names_argument.c_str());
  const auto values = unwrap_list(tensors, count, tensors_argument);
  check_utf8(labels, names_argument);
  tandem::NamedTensors list;
  for (std::size_t i = 0; i < count; ++i) list.emplace_back(labels[i], values[i]);
  return list;
}

tandem::Safetensors content_of(const char* const* names, tdm_tensor* const* tensors, std::size_t count,
                               const char* const* metadata_keys, const char* const* metadata_values,
                               std::size_t metadata_count) {
  tandem::Safetensors content{named(names, tensors, count, "names", "tensors"), {}};
  const auto keys = to_strings(metadata_keys, metadata_count, "metadata_keys");
  const auto texts = to_strings(metadata_values, metadata_count, "metadata_values");
  check_utf8(keys, "metadata_keys");
  check_utf8(texts, "metadata_values");
  for (std::size_t i = 0; i < metadata_count; ++i) content.metadata[keys[i]] = texts[i];
  return content;
}

}  // namespace

tdm_error* tdm_safetensors_save(const char* path, const char* const* names, tdm_tensor* const* tensors,
                                std::size_t count, const char* const* metadata_keys, const char* const* metadata_values,
                                std::size_t metadata_count) {
  return guard("tdm_safetensors_save", [&] {
    not_null(path, "path");
    tandem::save_safetensors(path, content_of(names, tensors, count, metadata_keys, metadata_values, metadata_count));
  });
}

tdm_error* tdm_safetensors_save_sharded(const char* folder, const char* const* names, tdm_tensor* const* tensors,
                                        std::size_t count, const char* const* metadata_keys,
                                        const char* const* metadata_values, std::size_t metadata_count,
                                        std::int64_t shard_bytes) {
  return guard("tdm_safetensors_save_sharded", [&] {
    not_null(folder, "folder");
    const auto content = content_of(names, tensors, count, metadata_keys, metadata_values, metadata_count);
    if (shard_bytes < 1) {
      invalid("argument 'shard_bytes' is " + std::to_string(shard_bytes) + "; it must be at least 1");
    }
    tandem::ShardOptions options;
    options.most_shard_bytes = static_cast<std::uint64_t>(shard_bytes);
    tandem::save_sharded_safetensors(folder, content, options);
  });
}

tdm_error* tdm_safetensors_load(const char* path, const tdm_safetensors_load_options* options, tdm_named_tensors** out,
                                tdm_strings** metadata_keys, tdm_strings** metadata_values) {
  return guard("tdm_safetensors_load", [&] {
    not_null(path, "path");
    not_null(out, "out");
    const auto given = read_options<tdm_safetensors_load_options>(options, TDM_SAFETENSORS_LOAD_OPTIONS_INIT,
                                                                  "tdm_safetensors_load_options");
    auto content = tandem::load_sharded_safetensors(path, {.map = given.mapped != 0});
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

tdm_error* tdm_pt_load(const char* path, const tdm_pt_load_options* options, tdm_value* out) {
  return guard("tdm_pt_load", [&] {
    not_null(path, "path");
    not_null(out, "out");
    const auto given = read_options<tdm_pt_load_options>(options, TDM_PT_LOAD_OPTIONS_INIT, "tdm_pt_load_options");
    if (given.most_values < 1) {
      invalid("options->most_values is " + std::to_string(given.most_values) + "; it must be at least 1");
    }
    *out = from_pt(tandem::load_pt(path, {.copy = given.copy != 0,
                                          .check_crc = given.check_crc != 0,
                                          .most_values = static_cast<std::uint64_t>(given.most_values)}));
  });
}

tdm_error* tdm_pt_save(const char* path, const tdm_value* value) {
  return guard("tdm_pt_save", [&] {
    not_null(path, "path");
    tandem::save_pt(path, to_pt(*not_null(value, "value"), "value"));
  });
}

tdm_error* tdm_names_replace(const char* const* names, std::size_t count, const char* const* patterns,
                             const char* const* replacements, std::size_t rule_count, tdm_strings** out) {
  return guard("tdm_names_replace", [&] {
    not_null(out, "out");
    const auto given = to_strings(names, count, "names");
    auto from = to_strings(patterns, rule_count, "patterns"), to = to_strings(replacements, rule_count, "replacements");
    std::vector<tandem::RenameRule> rules;
    for (std::size_t i = 0; i < rule_count; ++i) rules.push_back({std::move(from[i]), std::move(to[i])});
    *out = new tdm_strings(tandem::renamed(given, rules));
  });
}

tdm_error* tdm_tensors_load(const char* const* into_names, tdm_tensor* const* into, std::size_t into_count,
                            const char* const* from_names, tdm_tensor* const* from, std::size_t from_count,
                            std::int32_t strict, std::int32_t convert_dtype, tdm_strings** missing,
                            tdm_strings** unexpected) {
  return guard("tdm_tensors_load", [&] {
    auto match = tandem::load_tensors(named(into_names, into, into_count, "into_names", "into"),
                                      named(from_names, from, from_count, "from_names", "from"),
                                      {.strict = strict != 0, .convert_dtype = convert_dtype != 0});
    auto missing_list = std::make_unique<tdm_strings>(std::move(match.missing));
    auto unexpected_list = std::make_unique<tdm_strings>(std::move(match.unexpected));
    if (missing) *missing = missing_list.release();
    if (unexpected) *unexpected = unexpected_list.release();
  });
}
