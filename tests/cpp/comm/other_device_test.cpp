// Collectives and messages of tensors on an accelerator that no backend takes: by way of the CPU, with the CPU's results.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <functional>
#include <string>
#include <vector>

#include "cpp/comm/threads.h"
#include "support/fake_device/fake_device.h"

namespace tandem::testing {
namespace {

using Tensors = std::vector<at::Tensor>;

constexpr int kRanks = 3;

struct Call {
  const char* name;
  // `made` gives a rank's own tensor of these sizes, where the call is tried.
  std::function<Tensors(ProcessGroup& group, const std::function<at::Tensor(at::IntArrayRef)>& made)> run;
};

Tensors many(const std::function<at::Tensor(at::IntArrayRef)>& made, bool rising = false) {
  Tensors tensors;
  for (int i = 0; i < kRanks; ++i) tensors.push_back(made({rising ? i + 1 : 2, 2}));
  return tensors;
}

const std::vector<Call>& calls() {
  static const std::vector<Call> all = {
      {"broadcast",
       [](ProcessGroup& group, const auto& made) {
         Tensors one{made({3})};
         group.broadcast(one[0], 1);
         return one;
       }},
      {"all_reduce",
       [](ProcessGroup& group, const auto& made) {
         Tensors two{made({3}), made({2, 2}).t()};
         group.all_reduce(two[0]);
         group.all_reduce(two[1], ReduceOp::kAvg);
         return two;
       }},
      {"all_reduce_coalesced",
       [](ProcessGroup& group, const auto& made) {
         Tensors two{made({3}), made({2, 2})};
         group.all_reduce_coalesced(two, ReduceOp::kMax);
         return two;
       }},
      {"reduce",
       [](ProcessGroup& group, const auto& made) {
         Tensors one{made({3})};
         group.reduce(one[0], 2);
         return group.rank() == 2 ? one : Tensors();
       }},
      {"all_gather",
       [](ProcessGroup& group, const auto& made) {
         Tensors all = many(made), uneven = many(made, true);
         group.all_gather(all, made({2, 2}));
         group.all_gather(uneven, made({group.rank() + 1, 2}));
         all.insert(all.end(), uneven.begin(), uneven.end());
         all.push_back(made({kRanks, 2}));
         group.all_gather_into_tensor(all.back(), made({2}));
         return all;
       }},
      {"gather and scatter",
       [](ProcessGroup& group, const auto& made) {
         Tensors all = group.rank() == 0 ? many(made) : Tensors();
         group.gather(all, made({2, 2}), 0);
         all.push_back(made({2, 2}));
         group.scatter(all.back(), group.rank() == 1 ? many(made) : Tensors(), 1);
         return all;
       }},
      {"reduce_scatter",
       [](ProcessGroup& group, const auto& made) {
         Tensors two{made({2, 2}), made({2})};
         group.reduce_scatter(two[0], many(made));
         group.reduce_scatter_tensor(two[1], made({kRanks * 2}));
         return two;
       }},
      {"all_to_all",
       [](ProcessGroup& group, const auto& made) {
         Tensors all = many(made);
         group.all_to_all(all, many(made));
         all.push_back(made({kRanks, 2}));
         group.all_to_all_single(all.back(), made({kRanks, 2}));
         return all;
       }},
      {"messages",
       [](ProcessGroup& group, const auto& made) {
         const int next = (group.rank() + 1) % kRanks, before = (group.rank() + kRanks - 1) % kRanks;
         Tensors two{made({3}), made({4})};
         const std::vector<Message> both{{Message::Kind::kSend, made({3}), next, 1},
                                         {Message::Kind::kReceive, two[0], before, 1}};
         group.batch_isend_irecv(both).wait();
         Work sent = group.isend(made({4}), next, 2);
         EXPECT_EQ(group.recv(two[1], before, 2), before);
         sent.wait();
         return two;
       }},
  };
  return all;
}

class OtherDeviceGroup : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { fake_device::install(); }
};

TEST_P(OtherDeviceGroup, GivesWhatTheCpuHas) {
  run_groups(kRanks, [](ProcessGroup& group) {
    const at::Device there = fake_device::device(static_cast<c10::DeviceIndex>(group.rank()));
    for (const Call& call : calls()) {
      const auto run = [&](at::Device device) {
        double begin = group.rank();
        return call.run(group, [&](at::IntArrayRef sizes) {
          begin += 10;
          return torch::arange(c10::multiply_integers(sizes)).to(torch::kDouble).add(begin).view(sizes).to(device);
        });
      };
      const Tensors expected = run(at::kCPU), given = run(there);
      ASSERT_EQ(given.size(), expected.size()) << call.name;
      for (std::size_t i = 0; i < given.size(); ++i) {
        EXPECT_EQ(given[i].device(), there) << call.name;
        EXPECT_TRUE(given[i].cpu().equal(expected[i])) << call.name << " " << i << ":\n" << given[i].cpu() << expected[i];
      }
    }
  }, GetParam());
}

// Its future has the result, which a communication hook may wait for; a failure comes out of both.
TEST_P(OtherDeviceGroup, FuturesHaveTheResult) {
  run_groups(2, [](ProcessGroup& group) {
    Tensors one{torch::full({5}, group.rank() + 1.0, fake_device::device(0))};
    const auto work = group.native()->allreduce(one);
    const auto future = work->getFuture();
    future->wait();
    EXPECT_TRUE(one[0].cpu().equal(torch::full({5}, 3.0)));
    EXPECT_TRUE(future->value().toTensorVector()[0].is_alias_of(one[0]));
    group.barrier();
    group.abort();
    const Error aborted = error_of([&] { group.all_reduce(one[0]); });
    EXPECT_EQ(aborted.code(), ErrorCode::kAborted) << aborted.what();
  }, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Backends, OtherDeviceGroup, ::testing::Values("gloo", "shm"));

}  // namespace
}  // namespace tandem::testing
