// Draws digits like MNIST's: a data set for whoever has none at hand.
//
//   draw-digits FOLDER --train 12000 --test 2000 --seed 1
#include <CLI/CLI.hpp>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <string>

#include "draw_digits.h"

int main(int count, char** arguments) {
  CLI::App app("Draw handwritten-like digits as MNIST's four IDX files", "draw-digits");
  std::string folder;
  std::uint32_t train = 12000, test = 2000;
  std::uint64_t seed = 1;
  app.add_option("folder", folder, "Where to write them")->required();
  // Whole files are made in memory.
  app.add_option("--train", train, "Digits to train on")->capture_default_str()->check(CLI::Range(1, 1000000));
  app.add_option("--test", test, "Digits to test on")->capture_default_str()->check(CLI::Range(1, 1000000));
  app.add_option("--seed", seed, "The same seed draws the same digits")->capture_default_str();
  CLI11_PARSE(app, count, arguments);
  try {
    digits::write_digits(folder, train, test, seed);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "draw-digits: %s\n", error.what());
    return 1;
  }
  std::printf("%s: %" PRIu32 " digits to train on, %" PRIu32 " to test on\n", folder.c_str(), train, test);
}
