// What trainers ask of servers, and servers tell trainers: functions that workers call.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "tandem/rpc.h"

namespace tandem::parameter_server {

// Of servers; the first argument is the trainer's name.
// Declarations, first step or -1, values or none: (first step, whether it made the tables), or none where values are wanted.
constexpr const char* kJoin = "tandem.parameters.join";
constexpr const char* kAdmit = "tandem.parameters.admit";
constexpr const char* kLeave = "tandem.parameters.leave";  // whether in good order
constexpr const char* kRead = "tandem.parameters.read";    // table, places: rows
// Step, dense gradients, [(table, places, gradients)]: whether it may go on, how many joined or -1, who is missing, values.
constexpr const char* kPush = "tandem.parameters.push";
// The number of steps that the servers must have from it before it may go on: the same answer.
constexpr const char* kLook = "tandem.parameters.look";
constexpr const char* kSetOption = "tandem.parameters.set_option";  // table or "", name, value
// Table and places, or "" and names of dense parameters: named tensors.
constexpr const char* kReadState = "tandem.parameters.read_state";
constexpr const char* kWriteState = "tandem.parameters.write_state";  // the same (none for names), and named tensors
// Of trainers: one that waits may look again.
constexpr const char* kMoved = "tandem.parameters.moved";

// A wait looks after those it waits for so often.
constexpr std::chrono::milliseconds kBetweenLooks{500};

// Not part of a distributed autograd context, whichever this thread has.
rpc::Future call(const std::string& worker, const char* function, rpc::Values arguments,
                 std::chrono::milliseconds timeout);
// All of them; the first failure is thrown once none is under way.
std::vector<at::IValue> wait_for_all(const std::vector<rpc::Future>& calls);

}  // namespace tandem::parameter_server
