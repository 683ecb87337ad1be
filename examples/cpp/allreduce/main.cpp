// Ten asynchronous all-reduces between processes, in C++.
//
//   allreduce RANK WORLD_SIZE FILE    each process is told its rank; they meet through a file that all can write
//   tandem run -n 2 allreduce         or the launcher tells them, through the environment
#include <tandem/process_group.h>
#include <tandem/runtime.h>
#include <torch/torch.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

void run(const std::vector<std::string>& arguments) {
  // Meet the other ranks.
  tandem::ProcessGroupOptions options;
  options.timeout = std::chrono::minutes(1);
  tandem::Store store;
  if (!arguments.empty()) {
    options.rank = std::stoi(arguments.at(0));
    options.world_size = std::stoi(arguments.at(1));
    store = tandem::file_store(arguments.at(2), options.world_size);
  }
  const auto group = tandem::ProcessGroup::create(options, store);

  // Start ten collectives; none waits for another.
  std::vector<torch::Tensor> tensors;
  std::vector<tandem::Work> works;
  for (int i = 0; i < 10; ++i) {
    tensors.push_back(torch::full({1000}, static_cast<float>(i + group->rank())));
    works.push_back(group->all_reduce_async(tensors.back()));
  }

  // Wait for each: its tensor then holds the sum over all ranks.
  for (int i = 0; i < 10; ++i) {
    works[i].wait();
    std::printf("rank %d of %d: sum %d is %g\n", group->rank(), group->size(), i, tensors[i][999].item<double>());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 1 && argc != 4) {
    std::fprintf(stderr, "usage: %s [RANK WORLD_SIZE FILE]\n", argv[0]);
    return 1;
  }
  try {
    run({argv + 1, argv + argc});
    tandem::shutdown(std::chrono::seconds(10));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "allreduce: %s\n", error.what());
    return 1;
  }
}
