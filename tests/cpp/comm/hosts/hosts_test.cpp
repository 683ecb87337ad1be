// The shm backend over several hosts: every collective against what its ranks' tensors should give, to the bit.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cstring>
#include <map>

#include "comm/shared_tensors.h"
#include "cpp/comm/leaks.h"
#include "cpp/comm/network.h"
#include "tandem/ddp.h"

namespace tandem::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using Tensors = std::vector<at::Tensor>;

// --- what a rank does

int own_rank() {
  return std::atoi(std::getenv("RANK"));
}

std::vector<int> layout() {
  return hosts_of(std::getenv("TEST_LAYOUT"));
}

// What a rank gives, which every rank can tell.
at::Tensor input_of(int rank, std::int64_t size, at::ScalarType dtype) {
  at::Generator generator = at::detail::createCPUGenerator(static_cast<std::uint64_t>(rank * 1000 + size % 1000));
  if (dtype == at::kBool) return torch::rand({size}, generator) < 0.5;
  if (at::isIntegralType(dtype, true)) return torch::randint(0, 100, {size}, generator).to(dtype);
  return torch::randn({size}, generator, at::kDouble).to(dtype);
}

at::Tensor combined(const at::Tensor& a, const at::Tensor& b, ReduceOp op) {
  if (a.scalar_type() == at::kBool) return op == ReduceOp::kSum ? a | b : a & b;
  switch (op) {
    case ReduceOp::kProduct:
      return a * b;
    case ReduceOp::kMin:
      return torch::minimum(a, b);
    case ReduceOp::kMax:
      return torch::maximum(a, b);
    case ReduceOp::kBxor:
      return a.bitwise_xor(b);
    default:
      return a + b;
  }
}

// Small floats are computed in float32 and rounded once in each host and once between.
at::Tensor fold(const Tensors& inputs, ReduceOp op, int divisor) {
  const at::ScalarType dtype = inputs[0].scalar_type();
  const bool is_small = dtype == at::kHalf || dtype == at::kBFloat16;
  at::Tensor result = is_small ? inputs[0].to(at::kFloat) : inputs[0].clone();
  for (std::size_t i = 1; i < inputs.size(); ++i) result = combined(result, inputs[i].to(result.scalar_type()), op);
  if (divisor > 1) {
    if (at::isIntegralType(dtype, false)) {
      result = result.div(divisor, "trunc");
    } else {
      result.div_(divisor);
    }
  }
  return result.to(dtype);
}

// In order of rank on each host, then in order of host.
at::Tensor expected_reduction(const std::function<at::Tensor(int)>& input, ReduceOp op) {
  std::vector<Tensors> of_hosts;
  std::map<int, std::size_t> place;
  const auto hosts = layout();
  for (int rank = 0; rank < static_cast<int>(hosts.size()); ++rank) {
    const auto at = place.emplace(hosts[rank], of_hosts.size()).first->second;
    if (at == of_hosts.size()) of_hosts.emplace_back();
    of_hosts[at].push_back(input(rank));
  }
  Tensors results;
  const ReduceOp inside = op == ReduceOp::kAvg ? ReduceOp::kSum : op;
  for (const Tensors& inputs : of_hosts) results.push_back(fold(inputs, inside, 1));
  return fold(results, inside, op == ReduceOp::kAvg ? static_cast<int>(hosts.size()) : 1);
}

bool have_same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() &&
         (a.numel() == 0 ||
          std::memcmp(a.contiguous().const_data_ptr(), b.contiguous().const_data_ptr(), a.nbytes()) == 0);
}

void expect_same(const at::Tensor& found, const at::Tensor& expected, const std::string& what) {
  if (have_same_bits(found, expected)) return;
  say("wrong: " + what + " of " +
      c10::str(found.scalar_type(), found.sizes(), " differs by ",
               (found.to(at::kDouble) - expected.to(at::kDouble)).abs().max().item<double>()));
}

// What fits into a message's header, one part of a row, a part for each column, several slots.
const std::vector<std::int64_t> kSizes = {1, 60, 1500, 40000, 300001};
constexpr std::int64_t kSegments = 3000001;  // floats

void reductions(ProcessGroup& group) {
  const auto check = [&](std::int64_t size, at::ScalarType dtype, ReduceOp op) {
    const std::string what = "operation " + std::to_string(static_cast<int>(op));
    const auto input = [&](int rank) { return input_of(rank, size, dtype); };
    at::Tensor tensor = input(group.rank());
    group.all_reduce(tensor, op);
    const at::Tensor expected = expected_reduction(input, op);
    expect_same(tensor, expected, "all_reduce, " + what);
    const int root = static_cast<int>(size) % group.size();
    tensor = input(group.rank());
    group.reduce(tensor, root, op);
    if (group.rank() == root) expect_same(tensor, expected, "reduce, " + what);
  };
  for (const std::int64_t size : kSizes) {
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kAvg}) check(size, at::kFloat, op);
    check(size, at::kLong, ReduceOp::kSum);
  }
  check(kSegments, at::kFloat, ReduceOp::kSum);
  check(kSegments, at::kFloat, ReduceOp::kAvg);
  for (const ReduceOp op : {ReduceOp::kProduct, ReduceOp::kMin, ReduceOp::kMax}) check(5000, at::kDouble, op);
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kAvg, ReduceOp::kBxor}) check(5001, at::kShort, op);
  for (const at::ScalarType dtype : {at::kHalf, at::kBFloat16}) {
    check(5003, dtype, ReduceOp::kSum);
    check(300, dtype, ReduceOp::kAvg);
  }
  check(70000, at::kByte, ReduceOp::kMax);
  check(777, at::kBool, ReduceOp::kSum);
  check(777, at::kBool, ReduceOp::kProduct);

  for (const std::int64_t size : {std::int64_t{300001}, kSegments}) {
    const auto input = [&](int rank) { return input_of(rank, size, at::kFloat); };
    at::Tensor tensor;
    {
      const SharedTensors shared(group);  // which are combined in place inside a host
      tensor = torch::empty({size});
    }
    tensor.copy_(input(group.rank()));
    group.all_reduce(tensor, ReduceOp::kAvg);
    expect_same(tensor, expected_reduction(input, ReduceOp::kAvg), "all_reduce in shared memory");
  }

  at::Tensor scaled = input_of(group.rank(), 4000, at::kFloat);
  group.all_reduce_premul_sum(scaled, group.rank() + 0.5);
  expect_same(
      scaled,
      expected_reduction([&](int rank) { return input_of(rank, 4000, at::kFloat) * (rank + 0.5); }, ReduceOp::kSum),
      "premul_sum");
  const at::Tensor complex = torch::complex(input_of(group.rank(), 4000, at::kFloat), torch::ones({4000}));
  group.all_reduce(complex, ReduceOp::kAvg);
  expect_same(at::real(complex).contiguous(),
              expected_reduction([&](int rank) { return input_of(rank, 4000, at::kFloat); }, ReduceOp::kAvg),
              "complex");

  Tensors list;
  for (const std::int64_t size : {3, 1000, 700000, 5}) list.push_back(input_of(group.rank(), size, at::kFloat));
  group.all_reduce_coalesced(list);
  for (const at::Tensor& one : list) {
    expect_same(one,
                expected_reduction([&](int rank) { return input_of(rank, one.numel(), at::kFloat); }, ReduceOp::kSum),
                "all_reduce_coalesced");
  }

  for (const std::int64_t size : {1, 100, 5000, 400000}) {
    Tensors inputs;
    for (int to = 0; to < group.size(); ++to) inputs.push_back(input_of(group.rank() + to, size + to, at::kFloat));
    at::Tensor output = torch::empty({size + group.rank()});
    group.reduce_scatter(output, inputs, ReduceOp::kAvg);
    expect_same(
        output,
        expected_reduction([&](int rank) { return input_of(rank + group.rank(), size + group.rank(), at::kFloat); },
                           ReduceOp::kAvg),
        "reduce_scatter");
    output = torch::empty({size}, at::kLong);
    group.reduce_scatter_tensor(output, input_of(group.rank(), size * group.size(), at::kLong));
    expect_same(
        output,
        expected_reduction([&](int rank) { return input_of(rank, size * group.size(), at::kLong); }, ReduceOp::kSum)
            .narrow(0, size * group.rank(), size),
        "reduce_scatter_tensor");
  }
}

void moves(ProcessGroup& group) {
  const int size = group.size(), rank = group.rank();
  for (const std::int64_t count : kSizes) {
    for (int root = 0; root < size; ++root) {
      at::Tensor tensor = rank == root ? input_of(root, count, at::kDouble) : torch::empty({count}, at::kDouble);
      group.broadcast(tensor, root);
      expect_same(tensor, input_of(root, count, at::kDouble), "broadcast from " + std::to_string(root));
    }
    Tensors outputs;
    for (int from = 0; from < size; ++from) outputs.push_back(torch::empty({count + from * 3}));
    group.all_gather(outputs, input_of(rank, count + rank * 3, at::kFloat));
    for (int from = 0; from < size; ++from) {
      expect_same(outputs[from], input_of(from, count + from * 3, at::kFloat), "all_gather");
    }
    at::Tensor all = torch::empty({count * size}, at::kShort);
    group.all_gather_into_tensor(all, input_of(rank, count, at::kShort));
    for (int from = 0; from < size; ++from) {
      expect_same(all.narrow(0, count * from, count), input_of(from, count, at::kShort), "all_gather_into_tensor");
    }
    const int root = static_cast<int>(count + 1) % size;
    Tensors rows;
    for (int i = 0; i < size && rank == root; ++i) rows.push_back(torch::empty({count}));
    group.gather(rows, input_of(rank, count, at::kFloat), root);
    for (std::size_t from = 0; from < rows.size(); ++from) {
      expect_same(rows[from], input_of(static_cast<int>(from), count, at::kFloat), "gather");
    }
    for (std::size_t to = 0; to < rows.size(); ++to) rows[to] = input_of(static_cast<int>(to) + 7, count, at::kFloat);
    at::Tensor row = torch::empty({count});
    group.scatter(row, rows, root);
    expect_same(row, input_of(rank + 7, count, at::kFloat), "scatter");

    // From each rank to each, another number of elements.
    const auto between = [&](int from, int to) { return input_of(from * 10 + to, count / (1 + from) + to, at::kInt); };
    Tensors received, sent;
    for (int other = 0; other < size; ++other) {
      sent.push_back(between(rank, other));
      received.push_back(torch::empty_like(between(other, rank)));
    }
    group.all_to_all(received, sent);
    for (int from = 0; from < size; ++from) expect_same(received[from], between(from, rank), "all_to_all");
  }
  if (group.all_gather_bytes("rank " + std::to_string(rank))[size - 1] != "rank " + std::to_string(size - 1)) {
    say("wrong: all_gather_bytes");
  }
}

// Blocking and not, waited for in another order than they were called in.
void mixed(ProcessGroup& group) {
  std::vector<Work> works;
  Tensors tensors;
  for (int i = 0; i < 24; ++i) {
    const std::int64_t size = kSizes[static_cast<std::size_t>(i) % 5];
    tensors.push_back(input_of(group.rank(), size, at::kFloat));
    if (i % 3 == 2) {
      group.all_reduce(tensors.back());
      works.emplace_back();
    } else {
      works.push_back(group.all_reduce_async(tensors.back()));
    }
  }
  group.barrier();
  for (int i = 23; i >= 0; --i) {
    if (works[i].native()) works[i].wait();
    const std::int64_t size = tensors[i].numel();
    expect_same(tensors[i],
                expected_reduction([&](int rank) { return input_of(rank, size, at::kFloat); }, ReduceOp::kSum),
                "mixed");
  }
}

void messages(ProcessGroup& group) {
  const int size = group.size(), rank = group.rank();
  std::vector<Message> batch;
  Tensors received;
  for (int other = 0; other < size; ++other) {
    received.push_back(torch::empty({70000}));
    if (other == rank) continue;
    batch.push_back({Message::Kind::kReceive, received.back(), other, 5});
    batch.push_back({Message::Kind::kSend, input_of(rank * 10 + other, 70000, at::kFloat), other, 5});
  }
  group.batch_isend_irecv(batch).wait();
  for (int other = 0; other < size; ++other) {
    if (other != rank) expect_same(received[other], input_of(other * 10 + rank, 70000, at::kFloat), "message");
  }
  if (rank != 0) return group.send(torch::full({3}, rank), 0, 9);
  int sum = 0;
  for (int i = 1; i < size; ++i) {
    at::Tensor tensor = torch::empty({3}, at::kLong);
    const int from = group.recv(tensor, ProcessGroup::kAnyRank, 9);
    sum += from;
    if (tensor[2].item<int>() != from) say("wrong: message from any rank");
  }
  if (sum != size * (size - 1) / 2) say("wrong: senders");
}

int collectives() {
  const auto group = ProcessGroup::create(from_environment());
  if (group->backend() != "shm") say("wrong: backend " + group->backend());
  reductions(*group);
  moves(*group);
  mixed(*group);
  messages(*group);
  group->barrier();
  say("done");
  return 0;
}

// The same as Gloo, where its order of additions does not matter.
int against_gloo() {
  const auto ours = ProcessGroup::create(from_environment());
  ProcessGroupOptions options = from_environment();
  options.backend = options.name = "gloo";
  const auto gloo = ProcessGroup::create(options);
  for (const std::int64_t size : kSizes) {
    at::Tensor a = input_of(ours->rank(), size, at::kLong), b = a.clone();
    ours->all_reduce(a);
    gloo->all_reduce(b);
    expect_same(a, b, "all_reduce of integers and gloo's");
    a = input_of(ours->rank(), size, at::kDouble);
    b = a.clone();
    ours->all_reduce(a, ReduceOp::kAvg);
    gloo->all_reduce(b, ReduceOp::kAvg);
    if (!torch::allclose(a, b, 1e-12, 1e-12)) say("wrong: all_reduce of floats is not gloo's");
  }
  gloo->barrier();
  say("done");
  return 0;
}

// Ranks that train on parts of a batch have the gradients of one that trains on all of it.
int ddp() {
  const auto group = ProcessGroup::create(from_environment());
  const auto make = [] {
    torch::manual_seed(5);
    torch::nn::Sequential net(torch::nn::Linear(300, 700), torch::nn::ReLU(), torch::nn::Linear(700, 400),
                              torch::nn::ReLU(), torch::nn::Linear(400, 10));
    net->to(at::kDouble);
    return net;
  };
  auto alone = make();
  const auto shared = make();
  DistributedDataParallel<torch::nn::Sequential> net(shared, group);
  const int size = group->size();
  for (int step = 0; step < 4; ++step) {
    torch::manual_seed(step);
    const at::Tensor batch = torch::randn({8 * size, 300}, at::kDouble);
    net.forward(batch.narrow(0, 8 * group->rank(), 8)).square().mean().backward();
    alone->forward(batch).square().mean().backward();
    const auto ours = shared->parameters(), theirs = alone->parameters();
    for (std::size_t i = 0; i < ours.size(); ++i) {
      if (!torch::allclose(ours[i].grad(), theirs[i].grad(), 1e-10, 1e-13)) say("wrong: gradient " + std::to_string(i));
    }
    torch::NoGradGuard no_grad;
    for (const auto* list : {&ours, &theirs}) {
      for (at::Tensor parameter : *list) {
        parameter.sub_(0.1 * parameter.grad());
        parameter.mutable_grad().zero_();
      }
    }
  }
  group->barrier();
  say("done");
  return 0;
}

// What a sub-group's backend is, and that it works.
std::string subgroup(ProcessGroup& group, const std::vector<int>& ranks, const char* name) {
  const auto inner = group.new_group(ranks, name);
  if (!inner) return "none";
  at::Tensor tensor = torch::full({2000}, 1.0 + inner->rank());
  inner->all_reduce(tensor);
  if (tensor[1999].item<int>() != inner->size() * (inner->size() + 1) / 2) say("wrong: sub-group");
  const std::string backend = inner->backend();
  inner->barrier();
  return backend;
}

int choice() {
  const auto group = ProcessGroup::create(from_environment());
  std::string text = group->backend();
  text += ", " + subgroup(*group, {0, 1}, "inside") + ", " + subgroup(*group, {2, 3}, "other") + ", " +
          subgroup(*group, {1, 2}, "across") + ", " + subgroup(*group, {0, 1, 3}, "uneven");
  group->barrier();
  say(text);
  return 0;
}

// Ranks 1 and 2, on different hosts, call something else than 0 and 3.
int desync() {
  const auto group = ProcessGroup::create(from_environment());
  group->barrier();
  const bool other = own_rank() == 1 || own_rank() == 2;
  const std::string which = std::getenv("TEST_CALL");
  say_error([&] {
    at::Tensor tensor = torch::ones({which == "hosts" && own_rank() >= 2 ? 1001 : 1000});
    if (which == "hosts" || !other) {
      group->all_reduce(tensor);
    } else {
      group->broadcast(tensor, 0);
    }
  });
  return 0;
}

int records() {
  const auto group = ProcessGroup::create(from_environment());
  at::Tensor tensor = torch::ones({3000000});
  for (int i = 0; i < 3; ++i) group->all_reduce(tensor);
  const std::string record = flight_record();
  std::size_t count = 0;
  for (std::size_t at = record.find("\"sequence\""); at != std::string::npos;
       at = record.find("\"sequence\"", at + 1)) {
    ++count;
  }
  group->barrier();
  say(std::to_string(count) + " entries");
  return 0;
}

int churn() {
  const auto outer = ProcessGroup::create(from_environment());
  std::ptrdiff_t descriptors_before = 0, threads_before = 0;
  for (int i = 0; i < 60; ++i) {
    {
      const auto group = outer->new_group({0, 1, 2, 3});
      at::Tensor tensor = torch::full({20000}, 1.0);
      group->all_reduce(tensor);
      group->barrier();
    }
    outer->barrier();  // nobody is still making or ending one
    if (i == 9) descriptors_before = descriptors(), threads_before = threads();
  }
  const std::ptrdiff_t more_descriptors = settled(descriptors, descriptors_before) - descriptors_before;
  const std::ptrdiff_t more_threads = settled(threads, threads_before) - threads_before;
  outer->barrier();
  if (more_descriptors > 0) say("wrong: descriptors leak: " + std::to_string(more_descriptors));
  if (more_threads > 0) say("wrong: threads leak: " + std::to_string(more_threads));
  say("done");
  return 0;
}

int run_child(const std::string& role) {
  if (role == "host") return Network::be_host();
  if (role == "collectives") return collectives();
  if (role == "gloo") return against_gloo();
  if (role == "ddp") return ddp();
  if (role == "choice") return choice();
  if (role == "desync") return desync();
  if (role == "records") return records();
  if (role == "churn") return churn();
  return 2;
}

// --- tests

class Hosts : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Network::why_not().empty()) GTEST_SKIP() << "NOT TESTED: no hosts on this machine: " << Network::why_not();
  }
};

class HostLayouts : public Hosts, public ::testing::WithParamInterface<const char*> {};

TEST_P(HostLayouts, EveryCollectiveGivesWhatItShould) {
  HostRanks(GetParam(), {"collectives"}, {{"TEST_BACKEND", "shm"}}).expect_all("done");
}

INSTANTIATE_TEST_SUITE_P(Layouts, HostLayouts, ::testing::Values("0011", "0001", "0122", "0101", "01", "01234"),
                         [](const auto& info) { return std::string("Ranks") + info.param; });

TEST_F(Hosts, AgreeWithGloo) {
  HostRanks("0011", {"gloo"}, {{"TEST_BACKEND", "auto"}}).expect_all("done");
}

TEST_F(Hosts, EveryCollectivePassesTheChecksOfDetail) {
  HostRanks("001", {"collectives"}, {{"TEST_BACKEND", "shm"}, {"TORCH_DISTRIBUTED_DEBUG", "DETAIL"}})
      .expect_all("done");
}

TEST_F(Hosts, TrainAsOneProcessDoes) {
  HostRanks("0011", {"ddp"}, {{"TEST_BACKEND", "auto"}}).expect_all("done");
}

TEST_F(Hosts, AutoChoosesByWhereRanksAre) {
  HostRanks ranks("0011", {"choice"}, {{"TEST_BACKEND", "auto"}});
  EXPECT_EQ(ranks[0].line(), "shm, shm, none, none, shm");
  EXPECT_EQ(ranks[1].line(), "shm, shm, none, gloo, shm");
  EXPECT_EQ(ranks[2].line(), "shm, none, shm, gloo, none");
  EXPECT_EQ(ranks[3].line(), "shm, none, shm, none, shm");
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(ranks[rank].wait(), 0);
}

TEST_F(Hosts, AreToldThatTheyCallDifferentCollectives) {
  for (const char* call : {"hosts", "ranks"}) {
    HostRanks ranks("0011", {"desync"}, {{"TEST_BACKEND", "shm"}, {"TEST_CALL", call}, {"TEST_TIMEOUT_MS", "20000"}});
    for (int rank = 0; rank < 4; ++rank) {
      // Who finds out first tells the others.
      EXPECT_THAT(ranks[rank].line(),
                  AnyOf(IsError(ErrorCode::kInvalidArgument, HasSubstr("call different collectives")),
                        IsError(ErrorCode::kPeerLost, HasSubstr("call different collectives"))));
    }
  }
}

TEST_F(Hosts, ACollectiveIsOneInTheRecord) {
  HostRanks("0011", {"records"}, {{"TEST_BACKEND", "shm"}}).expect_all("3 entries");
}

TEST_F(Hosts, GroupsLeaveNothing) {
  HostRanks("0011", {"churn"}, {{"TEST_BACKEND", "shm"}}).expect_all("done");
}

}  // namespace
}  // namespace tandem::testing

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "--role") {
    tandem::testing::Network::join();
    return tandem::testing::run_child(argv[2]);
  }
  tandem::testing::Network::enter();
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
