#include <mutex>

#include "base/invalid.h"
#include "parameter_server/client.h"
#include "tandem/parameter_server.h"

namespace tandem {
namespace {

std::mutex& one_client_mutex() {
  static auto* instance = new std::mutex;
  return *instance;
}
bool has_client = false;

// Servers know trainers by their workers' names.
struct OnlyClient {
  OnlyClient() {
    const std::lock_guard<std::mutex> lock(one_client_mutex());
    if (has_client) invalid("this process has a ParameterClient already");
    has_client = true;
  }
  ~OnlyClient() {
    const std::lock_guard<std::mutex> lock(one_client_mutex());
    has_client = false;
  }
  OnlyClient(const OnlyClient&) = delete;
  OnlyClient& operator=(const OnlyClient&) = delete;
};

}  // namespace

struct ParameterClient::Parts {
  OnlyClient only;
  parameter_server::Client client;

  ~Parts() {
    try {
      client.leave(/*in_good_order=*/false);
    } catch (const std::exception&) {
      // Servers that are gone, or the session, need not be told.
    }
  }
};

ParameterClient::ParameterClient(ParameterClientOptions options, DenseParameters dense,
                                 std::map<std::string, EmbeddingTable> embeddings)
    : parts_(new Parts{{}, {std::move(options), std::move(dense), std::move(embeddings)}}) {
  parts_->client.join();
}

ParameterClient::~ParameterClient() = default;

at::Tensor ParameterClient::embedding(const std::string& table, const at::Tensor& indices) {
  return parts_->client.embedding(table, indices);
}

void ParameterClient::step() {
  parts_->client.step();
}

std::int64_t ParameterClient::steps() const {
  return parts_->client.steps();
}

void ParameterClient::set_option(const std::string& table, const Option& option) {
  parts_->client.set_option(table, option);
}

void ParameterClient::leave() {
  parts_->client.leave(/*in_good_order=*/true);
}

std::map<std::string, std::vector<OwnTensor>> ParameterClient::state(int part, int parts) {
  return parts_->client.state(part, parts);
}

CheckpointRequest ParameterClient::request(int part, int parts) const {
  return parts_->client.request(part, parts);
}

void ParameterClient::load(const Checkpoint& checkpoint, int part, int parts) {
  parts_->client.load(checkpoint, part, parts);
}

}  // namespace tandem
