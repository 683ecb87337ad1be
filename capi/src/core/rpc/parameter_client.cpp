// Trainers whose parameters live on servers.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/call/named_options.h"
#include "core/call/named_tensors.h"
#include "core/call/options.h"
#include "core/call/timeout.h"
#include "core/training/checkpoint_handle.h"
#include "tandem/parameter_server.h"

struct tdm_parameter_client : tandem::capi::Handle<tandem::Kind::kParameterClient> {
  std::unique_ptr<tandem::ParameterClient> client;
};

struct tdm_own_tensors : tandem::capi::Handle<tandem::Kind::kOwnTensors> {
  struct Item {
    std::string section;
    tandem::OwnTensor own;
  };
  std::vector<Item> items;
};

namespace tandem::capi {
namespace {

EmbeddingTable to_table(const tdm_embedding_table& given, const std::string& argument) {
  EmbeddingTable table;
  table.rows = given.rows;
  table.width = given.width;
  table.dtype = to_scalar_type(given.dtype, (argument + ".dtype").c_str());
  if (given.placement != TDM_ROW_PLACEMENT_MODULO && given.placement != TDM_ROW_PLACEMENT_RANGE) {
    invalid("argument '" + argument + "' has placement " + std::to_string(given.placement) + ", which is none");
  }
  table.placement = given.placement == TDM_ROW_PLACEMENT_RANGE ? RowPlacement::kRange : RowPlacement::kModulo;
  if (given.optimizer) table.optimizer = given.optimizer;
  table.optimizer_options = to_options(given.optimizer_options, given.optimizer_option_count, argument + ".optimizer_options");
  table.initial = unwrap_optional(given.initial, (argument + ".initial").c_str());
  table.standard_deviation = given.standard_deviation;
  table.seed = given.seed;
  return table;
}

std::map<std::string, EmbeddingTable> to_tables(const tdm_embedding_table* tables, std::size_t count) {
  check_count(count, "tables");
  if (count != 0) not_null(tables, "tables");
  std::map<std::string, EmbeddingTable> all;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string argument = element_name("tables", i);
    const std::string name = not_null(tables[i].name, (argument + ".name").c_str());
    if (!all.emplace(name, to_table(tables[i], argument)).second) invalid("two tables are called '" + name + "'");
  }
  return all;
}

ParameterClientOptions to_client_options(const tdm_parameter_client_options& given) {
  ParameterClientOptions options;
  options.servers = to_strings(given.servers, given.server_count, "options->servers");
  if (options.servers.empty()) invalid("options->servers is empty; name the workers that are servers");
  constexpr std::int64_t kMost = 1 << 30;
  const auto number = [](std::int64_t value, const char* name) {
    if (value < 0 || value > kMost) invalid(std::string(name) + " is " + std::to_string(value) + ", out of range");
    return static_cast<int>(value);
  };
  options.trainers = number(given.trainers, "options->trainers");
  options.staleness = number(given.staleness, "options->staleness");
  options.synchronous = given.synchronous != 0;
  options.timeout = to_wait(given.timeout_ms);
  if (given.lost_trainers != TDM_LOST_TRAINERS_FAIL && given.lost_trainers != TDM_LOST_TRAINERS_LEAVE) {
    invalid("options->lost_trainers is " + std::to_string(given.lost_trainers) + ", which is none");
  }
  options.lost_trainers = given.lost_trainers == TDM_LOST_TRAINERS_LEAVE ? LostTrainers::kLeave : LostTrainers::kFail;
  return options;
}

ParameterClient& client_of(const tdm_parameter_client* client) {
  return *not_null(client, "client")->client;
}

// Null past the end.
const tdm_own_tensors::Item* item(const tdm_own_tensors* list, std::size_t index) {
  return if_live(list) && index < list->items.size() ? &list->items[index] : nullptr;
}

}  // namespace
}  // namespace tandem::capi

using namespace tandem::capi;

tdm_error* tdm_parameter_client_create(const tdm_parameter_client_options* options, const char* const* names,
                                       tdm_tensor* const* parameters, std::size_t parameter_count,
                                       const tdm_embedding_table* tables, std::size_t table_count,
                                       tdm_parameter_client** out) {
  return guard("tdm_parameter_client_create", [&] {
    const auto given = read_options<tdm_parameter_client_options>(options, TDM_PARAMETER_CLIENT_OPTIONS_INIT,
                                                                  "tdm_parameter_client_options");
    tandem::DenseParameters dense;
    dense.parameters = to_named(names, parameters, parameter_count, "parameters");
    if (given.dense_optimizer) dense.optimizer = given.dense_optimizer;
    dense.optimizer_options = to_options(given.dense_options, given.dense_option_count, "options->dense_options");
    auto declared = to_tables(tables, table_count);
    not_null(out, "out");
    auto made = std::make_unique<tdm_parameter_client>();
    made->client = std::make_unique<tandem::ParameterClient>(to_client_options(given), std::move(dense), std::move(declared));
    *out = made.release();
  });
}

void tdm_parameter_client_free(tdm_parameter_client* client) {
  free_handle("tdm_parameter_client_free", client);
}

tdm_error* tdm_parameter_client_embedding(tdm_parameter_client* client, const char* table, tdm_tensor* indices,
                                          tdm_tensor** out) {
  return guard("tdm_parameter_client_embedding", [&] {
    auto& native = client_of(client);
    not_null(table, "table");
    const at::Tensor given = unwrap(indices, "indices");
    not_null(out, "out");
    *out = make_tensor_handle(native.embedding(table, given));
  });
}

tdm_error* tdm_parameter_client_step(tdm_parameter_client* client) {
  return guard("tdm_parameter_client_step", [&] { client_of(client).step(); });
}

int64_t tdm_parameter_client_steps(const tdm_parameter_client* client) {
  return if_live(client) ? client->client->steps() : -1;
}

tdm_error* tdm_parameter_client_set_option(tdm_parameter_client* client, const char* table, const tdm_option* option) {
  return guard("tdm_parameter_client_set_option", [&] {
    auto& native = client_of(client);
    not_null(table, "table");
    native.set_option(table, to_option(*not_null(option, "option"), "option->name"));
  });
}

tdm_error* tdm_parameter_client_leave(tdm_parameter_client* client) {
  return guard("tdm_parameter_client_leave", [&] { client_of(client).leave(); });
}

tdm_error* tdm_parameter_client_state(tdm_parameter_client* client, int32_t part, int32_t parts, tdm_own_tensors** out) {
  return guard("tdm_parameter_client_state", [&] {
    auto& native = client_of(client);
    not_null(out, "out");
    auto list = std::make_unique<tdm_own_tensors>();
    for (auto& [section, tensors] : native.state(part, parts)) {
      for (auto& own : tensors) list->items.push_back({section, std::move(own)});
    }
    *out = list.release();
  });
}

tdm_error* tdm_parameter_client_read(const tdm_parameter_client* client, tdm_checkpoint_folder* folder,
                                     const tdm_checkpoint_selection* selection, int32_t part, int32_t parts,
                                     tdm_checkpoint** out) {
  return guard("tdm_parameter_client_read", [&] {
    const auto& native = client_of(client);
    not_null(folder, "folder");
    auto request = to_request(selection);
    not_null(out, "out");
    request.part = native.request(part, parts).part;
    *out = load_checkpoint(*folder, request);
  });
}

tdm_error* tdm_parameter_client_load(tdm_parameter_client* client, const tdm_checkpoint* checkpoint, int32_t part,
                                     int32_t parts) {
  return guard("tdm_parameter_client_load", [&] {
    client_of(client).load(not_null(checkpoint, "checkpoint")->checkpoint, part, parts);
  });
}

std::size_t tdm_own_tensors_size(const tdm_own_tensors* list) {
  return if_live(list) ? list->items.size() : 0;
}

const char* tdm_own_tensors_section(const tdm_own_tensors* list, std::size_t index) {
  const auto* found = item(list, index);
  return found ? found->section.c_str() : nullptr;
}

const char* tdm_own_tensors_name(const tdm_own_tensors* list, std::size_t index) {
  const auto* found = item(list, index);
  return found ? found->own.name.c_str() : nullptr;
}

const int64_t* tdm_own_tensors_whole(const tdm_own_tensors* list, std::size_t index) {
  const auto* found = item(list, index);
  return found && !found->own.whole.empty() ? found->own.whole.data() : nullptr;
}

const int64_t* tdm_own_tensors_begin(const tdm_own_tensors* list, std::size_t index) {
  const auto* found = item(list, index);
  return found && !found->own.whole.empty() ? found->own.begin.data() : nullptr;
}

tdm_error* tdm_own_tensors_get(const tdm_own_tensors* list, std::size_t index, tdm_tensor** out) {
  return guard("tdm_own_tensors_get", [&] {
    const auto& items = not_null(list, "list")->items;
    not_null(out, "out");
    if (index >= items.size()) {
      throw tandem::Error(tandem::ErrorCode::kOutOfRange, "argument 'index' is " + std::to_string(index) +
                                                              ", but the list has " + std::to_string(items.size()) + " tensors");
    }
    *out = make_tensor_handle(items[index].own.tensor);
  });
}

void tdm_own_tensors_free(tdm_own_tensors* list) {
  free_handle("tdm_own_tensors_free", list);
}
