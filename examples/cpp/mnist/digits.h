// Where the digits are: RecordIO files, made from IDX files where needed.
#pragma once

#include <functional>
#include <string>

struct DigitFiles {
  std::string train, test;
};

// The files of `folder`: train.recordio and test.recordio; or MNIST's four IDX files, plain or .gz; or only the two of
// its test set, of which the last tenth then serves to test. IDX files are converted once, into `cache`, by those
// processes for which `convert` holds; `wait` must make the others wait for them. Throws tandem::Error.
DigitFiles find_digits(const std::string& folder, const std::string& cache, bool convert,
                       const std::function<void()>& wait);
