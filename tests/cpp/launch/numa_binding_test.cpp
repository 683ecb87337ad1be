// `tandem run --numa-binding`, on machines that are folders.
#include "launch/numa_binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cpp/launch/tool.h"
#include "launch/failure.h"

namespace tandem::launch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two packages; the first has NUMA nodes 0 and 1, the second nodes 2 and 3. A node has four CPUs, two caches, two cores a
// cache... of one CPU each. GPUs 0 and 1 are near node 3, GPU 2 is near node 0.
class Machine : public testing::Test {
 protected:
  Machine() {
    for (int cpu = 0; cpu < 16; ++cpu) {
      cpus_.push_back({cpu, cpu / 8, cpu % 8});
      const std::string cache = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/";
      write(cache + "index0/level", "1");
      write(cache + "index0/shared_cpu_list", std::to_string(cpu));
      write(cache + "index3/level", "3");
      write(cache + "index3/shared_cpu_list", std::to_string(cpu / 2 * 2) + "-" + std::to_string(cpu / 2 * 2 + 1));
    }
    for (int node = 0; node < 4; ++node) {
      write("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist",
            std::to_string(4 * node) + "-" + std::to_string(4 * node + 1) + "," + std::to_string(4 * node + 2) + "-" +
                std::to_string(4 * node + 3) + "\n");
    }
    write("/sys/devices/system/node/online", "0-3");
    gpu("0000:0A:00.0", 3);
    gpu("0000:0b:00.0", 3);
    gpu("0000:81:00.0", 0);
    unsetenv("CUDA_VISIBLE_DEVICES");
  }
  ~Machine() override { unsetenv("CUDA_VISIBLE_DEVICES"); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder_.path() + path).parent_path());
    std::ofstream(folder_.path() + path) << text;
  }
  void gpu(std::string address, int node) {
    const std::string minor = std::to_string(gpus_++);
    write("/proc/driver/nvidia/gpus/" + address + "/information",
          "Model: \t\t NVIDIA\nGPU UUID:   \t GPU-" + minor + "932f937-d72c\nDevice Minor: \t " + minor + "\n");
    write("/dev/nvidia" + minor, "");
    for (char& c : address) c = static_cast<char>(std::tolower(c));
    write("/sys/bus/pci/devices/" + address + "/numa_node", std::to_string(node));
  }
  std::vector<PlacedCpu> placed() const { return placed_cpus(cpus_, folder_.path()); }
  std::vector<int> gpus() const { return nodes_of_gpus(folder_.path()); }

  TemporaryFolder folder_;
  std::vector<Cpu> cpus_;
  int gpus_ = 0;
};

TEST_F(Machine, RanksAreOnTheNodesOfTheirGpus) {
  EXPECT_THAT(gpus(), ElementsAre(3, 3, 0));
  EXPECT_THAT(bind_to_nodes(NumaBinding::kNode, placed(), gpus(), 3),
              ElementsAre(ElementsAre(12, 13, 14, 15), ElementsAre(12, 13, 14, 15), ElementsAre(0, 1, 2, 3)));
}

TEST_F(Machine, ASocketHasSeveralNodes) {
  EXPECT_THAT(bind_to_nodes(NumaBinding::kSocket, placed(), gpus(), 3),
              ElementsAre(ElementsAre(8, 9, 10, 11, 12, 13, 14, 15), ElementsAre(8, 9, 10, 11, 12, 13, 14, 15),
                          ElementsAre(0, 1, 2, 3, 4, 5, 6, 7)));
}

TEST_F(Machine, ExclusiveRanksShareNothing) {
  EXPECT_THAT(bind_to_nodes(NumaBinding::kExclusive, placed(), gpus(), 3),
              ElementsAre(ElementsAre(12, 13), ElementsAre(14, 15), ElementsAre(0, 1, 2, 3)));
  try {
    bind_to_nodes(NumaBinding::kExclusive, placed(), {3, 3, 3, 3, 3}, 5);
    ADD_FAILURE();
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("--numa-binding exclusive: there are 5 ranks for 4 CPUs"));
  }
}

TEST_F(Machine, CoreComplexesAreTakenInTurns) {
  EXPECT_THAT(bind_to_nodes(NumaBinding::kCoreComplex, placed(), {3, 3, 3}, 3),
              ElementsAre(ElementsAre(12, 13), ElementsAre(14, 15), ElementsAre(12, 13)));
}

TEST_F(Machine, WithoutGpusRanksAreSharedOutOverTheNodes) {
  EXPECT_THAT(bind_to_nodes(NumaBinding::kNode, placed(), {}, 2),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(8, 9, 10, 11)));
  EXPECT_THAT(bind_to_nodes(NumaBinding::kExclusive, placed(), {}, 8),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5), ElementsAre(6, 7), ElementsAre(8, 9),
                          ElementsAre(10, 11), ElementsAre(12, 13), ElementsAre(14, 15)));
}

TEST_F(Machine, OnlyTheGpusThatAreVisibleCount) {
  setenv("CUDA_VISIBLE_DEVICES", "2,0", 1);
  EXPECT_THAT(gpus(), ElementsAre(0, 3));
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  EXPECT_THAT(gpus(), IsEmpty());
  setenv("CUDA_VISIBLE_DEVICES", "GPU-2932,GPU-0932f937", 1);
  EXPECT_THAT(gpus(), ElementsAre(0, 3));
  setenv("CUDA_VISIBLE_DEVICES", "0,1,-1,2", 1);
  EXPECT_THAT(gpus(), ElementsAre(3, 3));
  setenv("CUDA_VISIBLE_DEVICES", "MIG-GPU-0/1/2", 1);
  EXPECT_THROW(gpus(), Failure);
}

TEST_F(Machine, GpusThatThisProcessMayNotOpenAreNoneOfIts) {
  std::filesystem::remove(folder_.path() + "/dev/nvidia0");
  std::filesystem::remove(folder_.path() + "/dev/nvidia1");
  setenv("CUDA_VISIBLE_DEVICES", "0", 1);
  EXPECT_THAT(gpus(), ElementsAre(0));
}

TEST_F(Machine, ANodeOfMemoryAloneHasNoCpus) {
  write("/sys/devices/system/node/node4/cpulist", "\n");
  EXPECT_THAT(bind_to_nodes(NumaBinding::kExclusive, placed(), {}, 4),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7), ElementsAre(8, 9, 10, 11), ElementsAre(12, 13, 14, 15)));
}

TEST_F(Machine, CpusThatThisProcessMayNotUseAreLeftOut) {
  cpus_.erase(cpus_.begin(), cpus_.begin() + 2);
  EXPECT_THAT(bind_to_nodes(NumaBinding::kNode, placed(), {0}, 1), ElementsAre(ElementsAre(2, 3)));
  cpus_.erase(cpus_.begin(), cpus_.begin() + 2);
  try {
    bind_to_nodes(NumaBinding::kNode, placed(), {0}, 1);
    ADD_FAILURE();
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("near NUMA node 0, none of whose CPUs"));
  }
  EXPECT_THROW(bind_to_nodes(NumaBinding::kNode, placed(), gpus(), 4), Failure);  // of three GPUs
}

TEST(NumaBindingFlag, BindsWorkersOfThisMachine) {
  const std::vector<std::string> show = {"--no-prefix", "grep", "Cpus_allowed_list", "/proc/self/status"};
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.end(), show.begin(), show.end());
    return run_tool(words, {"CUDA_VISIBLE_DEVICES="});
  };
  const Result bound = run({"run", "--numa-binding", "exclusive"});
  EXPECT_EQ(bound.code, 0) << bound.err;
  const auto placed = placed_cpus(allowed_cpus());
  const bool is_one_node = placed.front().node == placed.back().node;
  EXPECT_EQ(bound.out == run({"run"}).out, is_one_node) << bound.out;
  EXPECT_THAT(run_tool({"run", "--numa-binding", "near", "true"}).err,
              HasSubstr("--numa-binding is near, but has to be node, socket, exclusive or core-complex"));
  EXPECT_THAT(run_tool({"run", "--numa-binding", "node", "--bind-to", "core", "true"}).err, HasSubstr("both say where ranks run"));
  EXPECT_EQ(run_tool({"run", "true"}, {"PET_NUMA_BINDING=node", "CUDA_VISIBLE_DEVICES="}).code, 0);
}

}  // namespace
}  // namespace tandem::launch
