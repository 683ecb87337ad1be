// Learns which items users like, from ratings that are drawn. The first ranks are parameter servers, which have the vectors
// of users and items; the others are trainers, each with a copy of the network that compares the two:
//
//   tandem run -n 3 -- paramserver-cpp --servers 1
//
// is one server and two trainers.
#include <tandem/checkpoint.h>
#include <tandem/ddp.h>
#include <tandem/error.h>
#include <tandem/launch_place.h>
#include <tandem/optim.h>
#include <tandem/parameter_server.h>
#include <tandem/process_group.h>
#include <tandem/rpc.h>
#include <tandem/runtime.h>
#include <torch/torch.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

struct Settings {
  int servers = 1, steps = 300, every = 50, staleness = 2;
  bool asynchronous = false;
  std::int64_t users = 2000, items = 500, width = 16, batch_size = 128;
  double lr = 0.2;
  std::uint64_t seed = 1;
  std::string checkpoints;
};

constexpr std::int64_t kTastes = 4;  // by which ratings are drawn

// [rows, width] of users and of items to a score a row.
struct CompareImpl : torch::nn::Module {
  explicit CompareImpl(std::int64_t width)
      : hidden(register_module("hidden", torch::nn::Linear(3 * width, 32))),
        score(register_module("score", torch::nn::Linear(32, 1))) {}

  torch::Tensor forward(const torch::Tensor& users, const torch::Tensor& items) {
    return score(torch::relu(hidden(torch::cat({users, items, users * items}, 1)))).squeeze(1);
  }

  torch::nn::Linear hidden, score;
};
TORCH_MODULE(Compare);

// Who likes what: 1 where a user's tastes go with an item's, else 0.
struct Ratings {
  explicit Ratings(const Settings& settings) {
    auto generator = at::detail::createCPUGenerator(settings.seed);
    users = torch::randn({settings.users, kTastes}, generator);
    items = torch::randn({settings.items, kTastes}, generator);
  }
  torch::Tensor of(const torch::Tensor& user, const torch::Tensor& item) const {
    return (users.index_select(0, user) * items.index_select(0, item)).sum(1).gt(0).to(torch::kFloat);
  }
  torch::Tensor users, items;
};

std::vector<std::string> server_names(const Settings& settings) {
  std::vector<std::string> names;
  for (int server = 0; server < settings.servers; ++server) names.push_back("server" + std::to_string(server));
  return names;
}

void serve(int rank) {
  tandem::ParameterServer server;  // before trainers can call
  tandem::rpc::init("server" + std::to_string(rank));
  while (!server.wait(std::chrono::minutes(1))) {
  }
  const auto done = server.statistics();
  std::printf("server %d: %lld updates, %lld rows read, %lld pushed, at most %lld steps ahead\n", rank,
              static_cast<long long>(done.updates), static_cast<long long>(done.rows_read),
              static_cast<long long>(done.rows_pushed), static_cast<long long>(done.most_ahead));
  std::fflush(stdout);
}

void train(const Settings& settings, const std::shared_ptr<tandem::ProcessGroup>& trainers) {
  const int trainer = trainers->rank(), count = trainers->size();
  tandem::rpc::init("trainer" + std::to_string(trainer));
  tandem::EmbeddingTable users{.rows = settings.users, .width = settings.width, .optimizer = "Adagrad"};
  users.optimizer_options = {{"lr", settings.lr}};
  users.standard_deviation = 0.1;
  users.seed = settings.seed;
  tandem::EmbeddingTable items = users;
  items.rows = settings.items;
  items.seed = settings.seed + 1;
  items.placement = tandem::RowPlacement::kRange;
  tandem::ParameterClientOptions options;
  options.servers = server_names(settings);
  options.trainers = count;
  options.synchronous = !settings.asynchronous;
  if (settings.asynchronous) options.staleness = settings.staleness;
  tandem::ParameterClient client(options, {}, {{"users", users}, {"items", items}});

  torch::manual_seed(settings.seed);
  Compare compare(settings.width);
  const auto optimizer = tandem::optim::make_optimizer("Adam", compare->parameters(), {{"lr", 0.01}});
  tandem::CheckpointOptions of_folder;
  of_folder.group = trainers;
  std::optional<tandem::CheckpointFolder> folder;
  std::int64_t first = 0;
  if (!settings.checkpoints.empty()) {
    folder.emplace(settings.checkpoints, of_folder);
    if (const auto loaded = folder->load(client.request(trainer, count))) {
      folder->together([&] {
        client.load(*loaded, trainer, count);
        const torch::NoGradGuard no_grad;
        for (const auto& [name, tensor] : loaded->sections.at("model")) compare->named_parameters()[name].copy_(tensor);
      });
      first = loaded->step;
    }
  }
  tandem::DistributedDataParallel<Compare> ddp(compare, trainers);

  const Ratings ratings(settings);
  auto generator = at::detail::createCPUGenerator(settings.seed + 100 + static_cast<std::uint64_t>(first) * 1000 + static_cast<std::uint64_t>(trainer));
  torch::Tensor right = torch::zeros({1}), seen = torch::zeros({1});
  for (std::int64_t step = first + 1; step <= first + settings.steps; ++step) {
    const torch::Tensor user = torch::randint(settings.users, {settings.batch_size}, generator, torch::kLong);
    const torch::Tensor item = torch::randint(settings.items, {settings.batch_size}, generator, torch::kLong);
    const torch::Tensor liked = ratings.of(user, item);
    const torch::Tensor score = ddp.forward(client.embedding("users", user), client.embedding("items", item));
    torch::binary_cross_entropy_with_logits(score, liked).backward();
    optimizer->step();  // of the network, the same on all trainers
    optimizer->zero_grad();
    client.step();  // of the rows
    right += score.detach().gt(0).eq(liked.gt(0.5)).sum();
    seen += settings.batch_size;
    if (step % settings.every != 0) continue;
    torch::Tensor both = torch::cat({right, seen});
    trainers->all_reduce(both);
    if (trainer == 0) {
      std::printf("step %lld: %.1f %% right\n", static_cast<long long>(step), (both[0] / both[1]).item<double>() * 100);
      std::fflush(stdout);
    }
    right.zero_();
    seen.zero_();
  }
  if (folder) {
    trainers->barrier();  // the servers' rows change no more
    folder->save(first + settings.steps, [&] {
      tandem::CheckpointContent content{.own = client.state(trainer, count)};
      for (const auto& one : compare->named_parameters()) content.replicated["model"].emplace_back(one.key(), one.value().detach());
      return content;
    });
  }
  client.leave();
}

void work(const Settings& settings) {
  const auto refuse = [&](int size) {
    throw tandem::Error(tandem::ErrorCode::kInvalidArgument,
                        std::to_string(size) + " ranks with --servers " + std::to_string(settings.servers) +
                            " leave no trainer; start more: tandem run -n " + std::to_string(settings.servers + 1));
  };
  if (tandem::launch_place().launcher.empty()) refuse(1);
  tandem::ProcessGroupOptions options;
  options.backend = "auto";
  const auto world = tandem::ProcessGroup::create(options);
  if (world->size() <= settings.servers) refuse(world->size());
  std::vector<int> ranks(static_cast<std::size_t>(world->size() - settings.servers));
  std::iota(ranks.begin(), ranks.end(), settings.servers);
  const auto trainers = world->new_group(ranks, "trainers");
  if (world->rank() < settings.servers) {
    serve(world->rank());
  } else {
    train(settings, trainers);
  }
  tandem::rpc::shutdown();
}

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Learns ratings with embeddings on parameter servers", "paramserver-cpp");
  const auto above_zero = CLI::Range(1, 1 << 30);
  app.add_option("--servers", settings.servers, "The first ranks")->capture_default_str()->check(above_zero);
  app.add_flag("--asynchronous", settings.asynchronous, "Trainers' updates are made at once, instead of one a step for all");
  app.add_option("--staleness", settings.staleness, "Asynchronous: steps that a trainer may be ahead of the slowest")->capture_default_str();
  app.add_option("--users", settings.users, "Rows of their table")->capture_default_str()->check(above_zero);
  app.add_option("--items", settings.items, "Rows of their table")->capture_default_str()->check(above_zero);
  app.add_option("--width", settings.width, "Of their vectors")->capture_default_str()->check(above_zero);
  app.add_option("--batch-size", settings.batch_size, "Of each trainer")->capture_default_str()->check(above_zero);
  app.add_option("--steps", settings.steps, "To make")->capture_default_str();
  app.add_option("--every", settings.every, "Steps from one report to the next")->capture_default_str()->check(above_zero);
  app.add_option("--lr", settings.lr, "Learning rate of the rows")->capture_default_str();
  app.add_option("--checkpoints", settings.checkpoints, "Folder to save in, and to go on from");
  app.add_option("--seed", settings.seed, "Of all random numbers")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 1;
  }

  int exit_code = 1;
  try {
    work(settings);
    exit_code = 0;
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "paramserver-cpp: %s\n", error.what_without_backtrace());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "paramserver-cpp: %s\n", error.what());
  }
  tandem::shutdown(std::chrono::seconds(10));
  return exit_code;
}
