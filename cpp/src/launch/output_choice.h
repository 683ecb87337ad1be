// Which of the workers' output goes to the terminal, and which to files: --log-dir and torchrun's --redirects, --tee
// and --local-ranks-filter.
#pragma once

#include <string>
#include <vector>

namespace tandem::launch {

struct OutputChoice {
  bool shows_out = true, shows_err = true;  // by the launcher
  bool keeps_out = false, keeps_err = false;  // in the rank's stdout.log, stderr.log
};

struct OutputFlags {
  bool keeps_all = false;          // --log-dir
  std::string redirects = "0";     // to files alone
  std::string tee = "0";           // to both
  std::string local_ranks_filter;  // the local ranks that are shown, "0,2"; empty: all
};

// Of each local rank. `redirects` and `tee` are as torchrun has them: 0 none, 1 stdout, 2 stderr, 3 both; one number
// for all ranks, or "0:1,2:3" by local rank. Throws Failure for another text, or a rank that there is not.
std::vector<OutputChoice> choose_output(const OutputFlags& flags, int nproc_per_node);

}  // namespace tandem::launch
