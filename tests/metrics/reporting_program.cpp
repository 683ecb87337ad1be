// A program that reports how it gets on, and needs no LibTorch for that:
//
//   reporting_program [SETTING=VALUE…]     STEPS=40 PAUSE=20 (ms) SAMPLES=8 LINES=no FILE=PATH
//
// Each step trains SAMPLES samples with a loss of 1/step. At its end it writes FILE.<rank>, whose text is "done". LINES=yes: a
// line of output each step.
#include <tandem/metrics.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>

int main(int argc, char** argv) {
  std::map<std::string, std::string> settings = {{"STEPS", "40"}, {"PAUSE", "20"}, {"SAMPLES", "8"}, {"LINES", "no"}, {"FILE", ""}};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    settings[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  }
  const char* given = std::getenv("RANK");
  const std::string rank = given ? given : "0";
  for (long step = 1; step <= std::stol(settings["STEPS"]); ++step) {
    tandem::report_metrics({.epoch = 1 + step / 100, .samples = std::stol(settings["SAMPLES"]), .loss = 1.0 / static_cast<double>(step)});
    if (settings["LINES"] == "yes") std::printf("step %ld of rank %s, and that is the whole line\n", step, rank.c_str());
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::milliseconds(std::stol(settings["PAUSE"])));
  }
  if (!settings["FILE"].empty()) std::ofstream(settings["FILE"] + "." + rank) << "done";
  return 0;
}
