package org.tandem.nn;

import org.tandem.Tensor;

/** Is called after a forward; see {@link Module#registerForwardHook}. */
@FunctionalInterface
public interface ForwardHook {
  /**
   * @param inputs what went in
   * @param outputs what came out, all tensors of it in order: of an LSTM's (y, (h, c)) three
   * @return what takes the outputs' place; null leaves them
   */
  Tensor[] after(Module module, Object[] inputs, Tensor[] outputs);
}
