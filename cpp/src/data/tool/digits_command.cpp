#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>

#include "data/tool/commands.h"
#include "data/tool/draw_digits.h"

namespace tandem::data_tool {

void add_digits(CLI::App& app) {
  struct Flags {
    std::string folder;
    std::uint32_t train = 12000, test = 2000;
    std::uint64_t seed = 1;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("digits", "Draw handwritten-like digits as MNIST's four IDX files");
  command->add_option("folder", flags->folder, "Where to write them")->required();
  // Whole files are made in memory.
  command->add_option("--train", flags->train, "Digits to train on")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  command->add_option("--test", flags->test, "Digits to test on")->capture_default_str()->check(CLI::Range(1, 1000000));
  command->add_option("--seed", flags->seed, "The same seed draws the same digits")->capture_default_str();
  command->callback([flags] {
    write_digits(flags->folder, flags->train, flags->test, flags->seed);
    std::printf("%s: %" PRIu32 " digits to train on, %" PRIu32 " to test on\n", flags->folder.c_str(), flags->train,
                flags->test);
  });
}

}  // namespace tandem::data_tool
