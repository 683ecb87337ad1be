// A port that the ranks of one host agree on through a folder of their job.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace tandem {

// Whether this is a folder of this process's user that nobody else can write: what stands there was written by the
// user's own processes.
bool is_private_folder(const std::string& path);

// For rank 0: a free port of the loopback interface, the same in each call of this process, which holds it bound until
// it ends, so that nobody else is given it; a store can listen there all the same. Leaves it in the folder, as long as
// it lives, for others that know the job's name; folder "": tells nobody. Throws Error (kIo).
std::uint16_t take_session_port(const std::string& folder, const std::string& job);

// For the other ranks: what rank 0 took. Waits for it: Error (kTimeout) at the deadline; `check` is called meanwhile,
// and may throw.
std::uint16_t await_session_port(const std::string& folder, const std::string& job,
                                 std::chrono::steady_clock::time_point deadline, const std::function<void()>& check);

}  // namespace tandem
