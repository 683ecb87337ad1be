// How a job gets on, for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "metrics/job/job.h"

namespace tandem::metrics {

// In one line: "epoch 2, step 1200, 5310 samples/s, loss 0.1234, 4 ranks, 0:02:10". What is not known is left out, and
// one of a node alone ends with " (this node)"; "" where no rank has reported anything.
std::string progress_line(const Job& job);

// A line for the job, one with the columns' names, and one a rank; each ends with a newline.
std::string rank_table(const Job& job);

// What there is of several jobs, to choose from.
std::string job_list(const std::vector<Job>& jobs);

// "0:02:10".
std::string duration_text(double seconds);
// Such as "1.5 GiB".
std::string bytes_text(std::int64_t bytes);
// With four digits that count.
std::string number_text(double value);

}  // namespace tandem::metrics
