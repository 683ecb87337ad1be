// A worker's threads say what they do when its agent asks, shortly before it kills the process.
#pragma once

namespace tandem::membership {

// The environment's variable for workers: a file, beside which nobody writes, for their stacks.
inline constexpr const char* kStacksVariable = "TANDEM_STACKS";

// From here on a thread that gets stack_signal() appends its stack to the file that the environment names, as one line:
// "THREAD ADDRESS ADDRESS …", the number in decimal, the addresses in hexadecimal, the innermost first, which is that of
// the next instruction; the others are those to return to. Names are for who reads it.
//
// Does nothing where the environment names no file, or where the program has a use for that signal. Go's runtime has a
// handler for every signal; it is given up for this one, which such a program cannot get from os/signal then.
void answer_stack_signal();

}  // namespace tandem::membership
