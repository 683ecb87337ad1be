// A user's C++ program against an installed Tandem: one step of data-parallel training, alone or under `tandem run`.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

#include "tandem/ddp.h"
#include "tandem/process_group.h"
#include "tandem/runtime.h"

int main() {
  {
    auto group = tandem::ProcessGroup::create({});
    torch::nn::Linear net(2, 1);
    tandem::DistributedDataParallel<torch::nn::Linear> ddp(net, group);
    // Ranks 0 and 1 see inputs 1 and 2: the mean gradient of the sum of outputs is 1.5.
    const auto input = torch::full({1, 2}, 1.0 + group->rank());
    ddp.forward(input).sum().backward();
    std::printf("rank %d of %d: gradient %g\n", group->rank(), group->size(), net->weight.grad()[0][0].item<double>());
  }
  tandem::shutdown(std::chrono::seconds(10));
}
