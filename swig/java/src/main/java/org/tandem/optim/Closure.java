package org.tandem.optim;

import org.tandem.Tensor;

/** Clears the gradients, computes a loss, which is a tensor of one number, and calls its backward. */
@FunctionalInterface
public interface Closure {
  /** Called in a scope of its own: what it makes is freed when it returns, but the loss. */
  Tensor loss() throws Exception;
}
