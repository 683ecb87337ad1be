// Inputs that end at different times, with ranks as threads.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include "cpp/comm/threads.h"
#include "cpp/ddp/small_models.h"
#include "tandem/ddp.h"

namespace tandem::testing::join_test {
namespace {

using ::testing::HasSubstr;
using namespace small_models;

TEST(DataParallel, JoinEndsAllRanksWhenItIsTold) {
  run_groups(3, [](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    Plain net;
    DistributedDataParallel<Plain> ddp(net, group);
    JoinOptions join;
    join.throw_on_early_termination = true;
    int steps = 0;
    const Error error = error_of([&] {
      ddp.join(
          [&] {
            for (; steps < 2 + group->rank(); ++steps) ddp.forward(torch::ones({2, 20})).sum().backward();
          },
          join);
    });
    EXPECT_EQ(error.code(), ErrorCode::kAborted);
    EXPECT_EQ(steps, 2);
    EXPECT_THAT(error.what(), HasSubstr("out of inputs"));
    // The group goes on.
    ddp.join([&] { ddp.forward(torch::ones({2, 20})).sum().backward(); });
  });
}

TEST(DataParallel, JoinLeavesAllRanksAlikeAndBuffersOfOneThatTrained) {
  run_groups(3, [](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    Net net;
    DistributedDataParallel<Net> ddp(net, group);
    ddp.join([&] {
      for (int i = 0; i < group->rank() * 2; ++i) {  // rank 0, whose buffers are broadcast otherwise, has no input
        ddp.forward(torch::randn({8, 20}) + 3).sum().backward();
        step(*net, 0.01);
      }
    });
    EXPECT_EQ(net->norm->num_batches_tracked.item<std::int64_t>(), 4);
    std::vector<at::Tensor> all;
    const at::Tensor mine = torch::cat({all_parameters(*net), net->norm->running_mean});
    for (int rank = 0; rank < 3; ++rank) all.push_back(torch::empty_like(mine));
    group->all_gather(all, mine);
    EXPECT_TRUE(all[0].equal(all[1]) && all[1].equal(all[2]));
    EXPECT_THAT(error_of([&] { ddp.reducer().end_join(); }).what(), HasSubstr("has not begun"));
  });
}

TEST(DataParallel, EvaluationInsideOfJoinExchangesNothing) {
  run_groups(2, [](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    Net net;
    DistributedDataParallel<Net> ddp(net, group);
    ddp.join([&] {
      for (int i = 0; i < 2 + group->rank(); ++i) {
        ddp.forward(torch::randn({8, 20})).sum().backward();
        if (group->rank() == 0) continue;
        torch::NoGradGuard no_grad;
        net->eval();
        ddp.forward(torch::randn({8, 20}));
        net->train();
      }
    });
  });
}

}  // namespace
}  // namespace tandem::testing::join_test
