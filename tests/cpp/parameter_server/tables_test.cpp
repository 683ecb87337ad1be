// What is declared, asked and pushed is checked, whoever sent it.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cmath>

#include "cpp/parameter_server/servers.h"

namespace tandem::testing::parameter_server_tables_test {
namespace {

using namespace parameter_servers;
using ::testing::AllOf;
using ::testing::HasSubstr;

using Tables = std::map<std::string, EmbeddingTable>;

const EmbeddingTable kWords{.rows = 10, .width = 2, .optimizer = "Adagrad", .seed = 7};

at::Tensor rows(std::vector<std::int64_t> numbers) {
  return torch::tensor(numbers, torch::kLong);
}

rpc::Values push_of(std::int64_t step, const std::string& table, const at::Tensor& places, const at::Tensor& gradients) {
  c10::impl::GenericList dense(c10::AnyType::get()), tables(c10::AnyType::get());
  tables.push_back(c10::ivalue::Tuple::create({at::IValue(table), at::IValue(places), at::IValue(gradients)}));
  return {"worker2", step, dense, tables};
}

const Role kAsks("asks for what makes no sense", [] {
  join();
  say_error([] {
    const auto declare = [](EmbeddingTable table, ParameterClientOptions options = client_options(1)) {
      say_error([&] { ParameterClient(options, {}, Tables{{"words", table}}); });
    };
    EmbeddingTable bad = kWords;
    bad.rows = std::int64_t{1} << 50;
    declare(bad);
    bad = kWords;
    bad.rows = 1 << 20;
    declare(bad);
    bad = kWords;
    bad.optimizer = "Adam";
    declare(bad);
    bad = kWords;
    bad.optimizer_options = {{"lr", -1.0}};
    declare(bad);
    bad = kWords;
    bad.initial = torch::zeros({10, 3});
    declare(bad);
    say_error([] { ParameterClient(client_options(1), {{{"words", torch::zeros({2})}}}, {{"words", kWords}}); });
    auto nobody = client_options(1);
    nobody.servers = {"worker2"};
    declare(kWords, nobody);
    say_error([] { ParameterClient(client_options(1), {}); });

    ParameterClient client(client_options(1), {}, {{"words", kWords}});
    say_error([] { ParameterClient(client_options(1), {}); });
    say_error([&] { client.embedding("birds", rows({1})); });
    say_error([&] { client.embedding("words", rows({3, 10})); });
    say_error([&] { client.embedding("words", torch::ones({3})); });
    say_error([&] { client.set_option("words", {"lrr", 0.1}); });
    Checkpoint saved;
    saved.step = 3;
    saved.sections["tables"] = {{"words", torch::zeros({10, 2})}};
    saved.sections["table_optimizers"] = {{"words.more.optimizer", torch::zeros({3}, torch::kByte)}};
    client.load(saved);  // another table's
    saved.sections["table_optimizers"] = {{"words.optimizer", torch::tensor({'S', 'G', 'D'}, torch::kByte)}};
    say_error([&] { client.load(saved); });
    // By calls of one's own.
    const auto ask = [](const std::string& function, const rpc::Values& given) {
      say_error([&] { rpc::rpc_sync("worker1", "tandem.parameters." + function, given); });
    };
    ask("read", {"worker2", "words", rows({0, 5})});
    ask("read", {"worker2", "words", torch::ones({2})});
    ask("push", push_of(0, "birds", rows({0}), torch::ones({1, 2})));
    ask("push", push_of(0, "words", rows({-1}), torch::ones({1, 2})));
    ask("push", push_of(0, "words", rows({1, 2}), torch::ones({1, 2})));
    ask("push", push_of(0, "words", rows({1}), torch::ones({1, 2}, torch::kDouble)));
    ask("push", push_of(5, "words", rows({1}), torch::ones({1, 2})));
    ask("push", {"worker2", 0, "dense", 7});
    ask("push", {"worker0", 0, c10::impl::GenericList(c10::AnyType::get()), c10::impl::GenericList(c10::AnyType::get())});
    ask("join", {"nobody", 1, 2, 3});
    ask("join", {"worker3", c10::ivalue::Tuple::create({at::IValue(1)}), -1, at::IValue()});
    // None of these did anything.
    say_error([&] { client.step(); });
    say(std::to_string(rpc::rpc_sync("worker1", "updates").toInt()));
    wait_for("worker3", "tried", 1);
    client.leave();
  });
  rpc::shutdown();
});
std::atomic<std::int64_t> tried{0};
const Role kDiffers("declares another table", [] {
  rpc::register_function("tried", [](const rpc::Values&) { return at::IValue(tried.load()); });
  join();
  say_error([] {
    wait_for("worker0", "updates", 1);
    EmbeddingTable other = kWords;
    other.width = 3;
    say_error([&] { ParameterClient(client_options(1), {}, Tables{{"words", other}}); });
    other = kWords;
    other.optimizer_options = {{"lr", 0.1}, {"lr_decay", 1e-3}, {"eps", 1e-10}};
    other.standard_deviation = 0.3;
    say_error([&] { ParameterClient(client_options(1), {}, Tables{{"words", other}}); });
    auto options = client_options(1);
    options.trainers = 3;
    say_error([&] { ParameterClient(options, {}, Tables{{"words", kWords}}); });
    tried = 1;
  });
  rpc::shutdown();
});

TEST(Tables, WhatMakesNoSenseIsRefusedByName) {
  const Job job = job_of(2);
  const auto workers = start_trainers(job, 2, {"asks for what makes no sense", "declares another table"});
  const auto expect = [&](ErrorCode code, std::vector<std::string> texts) {
    const std::string line = workers[2]->line();
    for (const std::string& text : texts) EXPECT_THAT(line, IsError(code, HasSubstr(text)));
  };
  const auto invalid = ErrorCode::kInvalidArgument;
  expect(invalid, {"table 'words': rows are 1125899906842624"});
  expect(ErrorCode::kOutOfMemory, {"worker0", "'worker2'", "table 'words'", "most_bytes"});
  expect(ErrorCode::kUnsupported, {"worker0", "'worker2'", "table 'words'", "Adam cannot apply a sparse gradient"});
  expect(invalid, {"worker0", "'worker2'", "table 'words'", "lr"});
  expect(invalid, {"table 'words': the initial values"});
  expect(invalid, {"'words' is the name of a dense parameter and of a table"});
  expect(ErrorCode::kNotFound, {"worker2"});
  expect(invalid, {"neither embedding tables nor dense parameters", "give either"});
  expect(invalid, {"has a ParameterClient already"});
  expect(ErrorCode::kNotFound, {"no embedding table 'birds'; there are 'words'"});
  expect(ErrorCode::kOutOfRange, {"table 'words': index 10 is out of range; it has 10 rows"});
  expect(invalid, {"table 'words': indices"});
  expect(ErrorCode::kNotFound, {"lrr"});
  expect(invalid, {"table 'words' of the checkpoint of step 3 was saved under SGD, ",
                   "and the servers have Adagrad for it"});
  expect(ErrorCode::kOutOfRange, {"worker1", "'worker2'", "table 'words': row 5"});
  expect(invalid, {"'worker2'", "table 'words': rows are named by int64"});
  expect(ErrorCode::kNotFound, {"'worker2'", "'birds'"});
  expect(ErrorCode::kOutOfRange, {"'worker2'", "table 'words': row -1"});
  expect(invalid, {"'worker2'", "table 'words': gradients of 2 rows are Float [2, 2]", "not Float [1, 2]"});
  expect(invalid, {"table 'words': gradients", "not Double [1, 2]"});
  expect(invalid, {"trainer 'worker2' pushed step 5, where its next is 0"});
  expect(invalid, {"'worker2'"});
  expect(ErrorCode::kNotFound, {"trainer 'worker0' takes no part"});
  expect(ErrorCode::kNotFound, {"nobody"});
  expect(invalid, {"'worker3'", "1 parts"});
  EXPECT_EQ(workers[2]->line(), "no error");
  EXPECT_EQ(workers[2]->line(), "1");
  EXPECT_THAT(workers[3]->line(), IsError(invalid, AllOf(HasSubstr("table 'words' of trainer 'worker3'"), HasSubstr("10 rows of 3"), HasSubstr("'worker2' declared: 10 rows of 2"))));
  EXPECT_THAT(workers[3]->line(),
              IsError(invalid, HasSubstr("Adagrad(lr=0.1, lr_decay=0.001, eps=1e-10), standard deviation 0.3, seed 7;")));
  EXPECT_THAT(workers[3]->line(), IsError(invalid, AllOf(HasSubstr("the mode of trainer 'worker3'"), HasSubstr("3 trainers"))));
  for (const auto& worker : workers) {
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->wait(), 0);
  }
}

// What a table begins with does not depend on who has it, and a batch fetches a row once.
const Role kReads("reads rows", [] {
  join();
  say_error([] {
    const std::vector<std::vector<std::string>> servers{{"worker0"}, {"worker1", "worker2"}};
    for (const auto& names : servers) {
      auto options = client_options(1);
      options.servers = names;
      EmbeddingTable table = kWords;
      table.placement = names.size() == 1 ? RowPlacement::kModulo : RowPlacement::kRange;
      table.rows = 1001;
      table.standard_deviation = 0.5;
      ParameterClient client(options, {}, {{"words", table}});
      const at::NoGradGuard no_grad;
      const at::Tensor all = client.embedding("words", torch::arange(1001));
      say("mean " + std::to_string(all.mean().abs().item<double>() < 0.05) + " std " +
          std::to_string(std::abs(all.std().item<double>() - 0.5) < 0.05));
      say(std::to_string((all.to(torch::kDouble) * torch::arange(2002).view({1001, 2})).sum().item<double>()));
      const at::Tensor some = client.embedding("words", rows({7, 7, 999, 7}).view({2, 2}));
      say(some.equal(all.index_select(0, rows({7, 7, 999, 7})).view({2, 2, 2})) ? "rows" : "other rows");
      say(std::to_string(client.embedding("words", torch::zeros({0, 3}, torch::kLong)).numel()));
      say(std::to_string(rpc::rpc_sync(names[0], "rows read").toInt()));
      client.leave();
    }
  });
  rpc::shutdown();
});

TEST(Tables, RowsBeginTheSameWhereverTheyAre) {
  const Job job = job_of(3);
  const auto workers = start_trainers(job, 3, {"reads rows"});
  std::string sum;
  for (const char* read : {"1003", "502"}) {
    EXPECT_EQ(workers[3]->line(), "mean 1 std 1");
    const std::string now = workers[3]->line();
    EXPECT_TRUE(sum.empty() || now == sum) << now << " " << sum;
    sum = now;
    EXPECT_EQ(workers[3]->line(), "rows");
    EXPECT_EQ(workers[3]->line(), "0");
    EXPECT_EQ(workers[3]->line(), read);
  }
  for (const auto& worker : workers) {
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->wait(), 0);
  }
}

}  // namespace
}  // namespace tandem::testing::parameter_server_tables_test
