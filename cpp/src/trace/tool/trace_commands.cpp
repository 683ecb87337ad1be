#include "trace/tool/trace_commands.h"

#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "trace/tool/merge.h"
#include "trace/tool/pipeline_picture.h"

namespace tandem {

void add_trace_commands(CLI::App& app) {
  CLI::App* trace = app.add_subcommand("trace", "Work with traces of ranks");
  trace->require_subcommand(1);
  struct Flags {
    std::string out;
    std::vector<std::string> files;
    MergeOptions options;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* merge = trace->add_subcommand(
      "merge", "Make one file of the ranks' traces and profiles, on one clock, for Perfetto and chrome://tracing");
  merge->add_option("out", flags->out, "File to write")->required();
  merge->add_option("files", flags->files, "A run's files")->required();
  merge->add_flag("--allow-missing", flags->options.allow_missing, "Take the ranks that there are");
  merge->callback([flags] {
    const MergeResult result = merge_traces(flags->files, flags->out, flags->options);
    std::printf("%s: %" PRId64 " events of %zu ranks, on clocks within %.1f us\n", flags->out.c_str(), result.events,
                result.ranks.size(), static_cast<double>(result.clock_error_ns) / 1000);
    if (result.dropped > 0) {
      std::printf("%" PRId64 " more were not recorded, for there were more than most_events\n", result.dropped);
    }
  });

  struct PictureFlags {
    std::vector<std::string> files;
    PictureOptions options;
  };
  auto picture = std::make_shared<PictureFlags>();
  CLI::App* pipeline = trace->add_subcommand(
      "pipeline", "Show a step of a pipeline, stages by time, and which share of the ranks' time was spent waiting");
  pipeline->add_option("files", picture->files, "Traces of the ranks of one pipeline")->required();
  pipeline->add_option("--step", picture->options.step, "Which one, from 1 (the last that all files have)");
  pipeline->add_option("--width", picture->options.width, "Columns (100)");
  pipeline->callback([picture] { std::fputs(pipeline_picture(picture->files, picture->options).c_str(), stdout); });
}

}  // namespace tandem
