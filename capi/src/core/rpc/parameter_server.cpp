// Servers of parameters.
#include <chrono>
#include <memory>

#include "core/call/options.h"
#include "core/call/timeout.h"
#include "core/handles/handles.h"
#include "tandem/parameter_server.h"

struct tdm_parameter_server : tandem::capi::Handle<tandem::Kind::kParameterServer> {
  explicit tdm_parameter_server(const tandem::ParameterServerOptions& options) : server(options) {}

  tandem::ParameterServer server;
};

using namespace tandem::capi;

namespace {

tandem::ParameterServerStatistics statistics_of(const tdm_parameter_server* server) {
  return not_null(server, "server")->server.statistics();
}

}  // namespace

tdm_error* tdm_parameter_server_create(const tdm_parameter_server_options* options, tdm_parameter_server** out) {
  return guard("tdm_parameter_server_create", [&] {
    const auto given = read_options<tdm_parameter_server_options>(options, TDM_PARAMETER_SERVER_OPTIONS_INIT,
                                                                  "tdm_parameter_server_options");
    not_null(out, "out");
    *out = new tdm_parameter_server({.most_bytes = given.most_bytes});
  });
}

void tdm_parameter_server_free(tdm_parameter_server* server) {
  free_handle("tdm_parameter_server_free", server);
}

tdm_error* tdm_parameter_server_wait(tdm_parameter_server* server, int64_t timeout_ms, int32_t* done) {
  return guard("tdm_parameter_server_wait", [&] {
    not_null(server, "server");
    not_null(done, "done");
    *done = server->server.wait(to_wait(timeout_ms));
  });
}

tdm_error* tdm_parameter_server_get_statistics(const tdm_parameter_server* server, tdm_parameter_server_statistics* out) {
  return guard("tdm_parameter_server_get_statistics", [&] {
    not_null(server, "server");
    check_struct_size(not_null(out, "out")->struct_size, "tdm_parameter_server_statistics");
    const auto counted = statistics_of(server);
    tdm_parameter_server_statistics made = TDM_PARAMETER_SERVER_STATISTICS_INIT;
    made.updates = counted.updates;
    made.pushes = counted.pushes;
    made.waits = counted.waits;
    made.rows_read = counted.rows_read;
    made.rows_pushed = counted.rows_pushed;
    made.most_ahead = counted.most_ahead;
    made.bytes = counted.bytes;
    write_struct(out, made, "tdm_parameter_server_statistics");
  });
}

tdm_error* tdm_parameter_server_trainers(const tdm_parameter_server* server, tdm_strings** out) {
  return guard("tdm_parameter_server_trainers", [&] {
    auto names = statistics_of(server).trainers;
    not_null(out, "out");
    *out = new tdm_strings(std::move(names));
  });
}

tdm_error* tdm_parameter_server_tables(const tdm_parameter_server* server, tdm_strings** out) {
  return guard("tdm_parameter_server_tables", [&] {
    auto names = statistics_of(server).tables;
    not_null(out, "out");
    *out = new tdm_strings(std::move(names));
  });
}
