// Calls of the system that change or read files, of which any one can be made to fail or to be the process's last.
#pragma once

#include <functional>

namespace tandem::testing {

// While `body` runs, on this thread: its call number `at` (from 0) fails with `error`, or where that is 0 the process
// is killed instead. Gives how many calls there were. -1: none fails.
int with_failing_call(int at, int error, const std::function<void()>& body);

// Whether renameat2 can exchange names, on this thread; not all file systems can.
void let_exchange(bool can);

}  // namespace tandem::testing
