// What collectives do, step by step, on bytes.
#pragma once

#include <chrono>
#include <vector>

#include "comm/shm/exchange.h"
#include "comm/shm/kernels.h"
#include "comm/shm/pieces.h"

namespace tandem::shm {

// The row of bytes is the same on every rank, as long as label.bytes. The result has the same bits on every rank and in
// every run: elements are combined in order of rank, wherever that is done.
void all_reduce(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline, Kernel kernel,
                const Pieces& data);
// Writes to the root's row alone.
void reduce(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline, Kernel kernel,
            const Pieces& data);
// inputs: a row for each rank, as long on every rank; output: what is combined of the rows for this rank.
void reduce_scatter(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline, Kernel kernel,
                    const std::vector<Pieces>& inputs, std::byte* output);
// From here on `root` counts the exchange's ranks; label.root is what errors say.
void broadcast(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline, int root,
               const Pieces& data);
// outputs: a row for each rank, as long as that rank's input; label.extent is this rank's.
void all_gather(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline,
                const std::vector<Pieces>& outputs, const Pieces& input);
// Rows of label.bytes; outputs at the root alone.
void gather(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline, int root,
            const std::vector<Pieces>& outputs, const Pieces& input);
// Rows of label.bytes; inputs at the root alone.
void scatter(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline, int root,
             const std::vector<Pieces>& inputs, const Pieces& output);
// inputs[k] goes to rank k, outputs[k] comes from it.
void all_to_all(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline,
                const std::vector<Pieces>& outputs, const std::vector<Pieces>& inputs);
void barrier(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline);

}  // namespace tandem::shm
