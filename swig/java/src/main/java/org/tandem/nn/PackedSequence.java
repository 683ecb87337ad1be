package org.tandem.nn;

import java.util.Arrays;
import java.util.List;
import org.tandem.Tensor;

/**
 * Sequences of different lengths for recurrent modules: {@code lstm.forwardAll(packed.tensors())}. Source:
 * torch.nn.utils.rnn.PackedSequence.
 *
 * @param data [elements of all sequences, …]
 * @param batchSizes how many sequences have an element in each place
 * @param sortedIndices null where the sequences keep their order
 * @param unsortedIndices and back
 */
public record PackedSequence(Tensor data, Tensor batchSizes, Tensor sortedIndices, Tensor unsortedIndices) {
  /** One input of a module. */
  public List<Tensor> tensors() {
    return Arrays.asList(data, batchSizes, sortedIndices, unsortedIndices);
  }
}
