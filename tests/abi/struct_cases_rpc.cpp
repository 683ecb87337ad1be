#include <string>

#include "abi/struct_cases.h"
#include "capi/autograd_values.h"
#include "capi/rpc_alone.h"

namespace struct_sizes {
namespace {

using namespace calls;

// A call on a reference of this worker's.
tdm_error* with_rref(const std::function<tdm_error*(tdm_rref*)>& call) {
  join_alone();
  const Tensor weight = parameter({1, 2}, {2});
  const tdm_value value = of(weight);
  tdm_rref* rref = nullptr;
  EXPECT_OK(tdm_rref_create(&value, &rref));
  tdm_error* error = call(rref);
  tdm_rref_free(rref);
  return error;
}

// A call with a server in this process.
tdm_error* with_server(const std::function<tdm_error*(tdm_parameter_server*)>& call) {
  join_alone();
  tdm_parameter_server* server = nullptr;
  EXPECT_OK(tdm_parameter_server_create(nullptr, &server));
  tdm_error* error = call(server);
  tdm_parameter_server_free(server);
  return error;
}

const char* const kSelf = "self";

tdm_parameter_client_options with_servers() {
  tdm_parameter_client_options options = TDM_PARAMETER_CLIENT_OPTIONS_INIT;
  options.servers = &kSelf;
  options.server_count = 1;
  return options;
}

}  // namespace

std::vector<Case> rpc_cases() {
  return {
      of_struct<tdm_rpc_options>(INITIAL(tdm_rpc_options, TDM_RPC_OPTIONS_INIT),
                                 [](tdm_rpc_options* given) -> tdm_error* {
                                   join_alone();
                                   tdm_error* error = tdm_rpc_init("again", given, nullptr);
                                   if (std::string(tdm_error_message(error)).find("already") == std::string::npos) return error;
                                   tdm_error_free(error);
                                   return nullptr;
                                 }),
      of_struct<tdm_rpc_call_options>(INITIAL(tdm_rpc_call_options, TDM_RPC_CALL_OPTIONS_INIT),
                                      [](tdm_rpc_call_options* given) {
                                        return with_rref([given](tdm_rref* rref) {
                                          tdm_value value{};
                                          tdm_error* error = tdm_rref_to_here(rref, given, &value);
                                          tdm_value_clear(&value);
                                          return error;
                                        });
                                      }),
      output<tdm_rref_counts>(INITIAL(tdm_rref_counts, TDM_RREF_COUNTS_INIT),
                              [](tdm_rref_counts* given) {
                                join_alone();
                                return tdm_rref_get_counts(given);
                              }),
      output<tdm_rpc_statistics>(INITIAL(tdm_rpc_statistics, TDM_RPC_STATISTICS_INIT),
                                 [](tdm_rpc_statistics* given) {
                                   join_alone();
                                   return tdm_rpc_get_statistics("self", given);
                                 }),
      of_struct<tdm_distributed_optimizer_options>(
          INITIAL(tdm_distributed_optimizer_options, TDM_DISTRIBUTED_OPTIMIZER_OPTIONS_INIT),
          [](tdm_distributed_optimizer_options* given) {
            return with_rref([given](tdm_rref* rref) {
              const tdm_option rate = option("lr", of(0.1));
              tdm_distributed_optimizer* made = nullptr;
              tdm_error* error = tdm_distributed_optimizer_create("SGD", &rref, 1, &rate, 1, given, &made);
              tdm_distributed_optimizer_free(made);
              return error;
            });
          }),
      of_struct<tdm_parameter_server_options>(INITIAL(tdm_parameter_server_options, TDM_PARAMETER_SERVER_OPTIONS_INIT),
                                              [](tdm_parameter_server_options* given) {
                                                tdm_parameter_server* server = nullptr;
                                                tdm_error* error = tdm_parameter_server_create(given, &server);
                                                tdm_parameter_server_free(server);
                                                return error;
                                              }),
      output<tdm_parameter_server_statistics>(
          INITIAL(tdm_parameter_server_statistics, TDM_PARAMETER_SERVER_STATISTICS_INIT),
          [](tdm_parameter_server_statistics* given) {
            return with_server([given](tdm_parameter_server* server) { return tdm_parameter_server_get_statistics(server, given); });
          }),
      of_struct<tdm_parameter_client_options>(
          "tdm_parameter_client_options", with_servers(),
          [](tdm_parameter_client_options* given) {
            return with_server([given](tdm_parameter_server*) {
              tdm_embedding_table table{};
              table.name = "words";
              table.rows = table.width = 2;
              table.dtype = TDM_DTYPE_FLOAT32;
              tdm_parameter_client* client = nullptr;
              tdm_error* error = tdm_parameter_client_create(given, nullptr, nullptr, 0, &table, 1, &client);
              tdm_parameter_client_free(client);
              return error;
            });
          },
          offsetof(tdm_parameter_client_options, trainers)),
  };
}

}  // namespace struct_sizes
