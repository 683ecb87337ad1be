package org.tandem.nn;

import org.tandem.Operator;
import org.tandem.Tensor;

/** Functions without state. Source: torch.nn.functional. */
public final class Functional {
  private Functional() {}

  // Looked up at the first use of this class's nested holders, so that loading the class needs no library.
  private static final class Ops {
    static final Operator CROSS_ENTROPY = Operator.find("aten::cross_entropy_loss", "");
    static final Operator NLL = Operator.find("aten::nll_loss", "");
    static final Operator MSE = Operator.find("aten::mse_loss", "");
    static final Operator MAX_POOL = Operator.find("aten::max_pool2d", "");
    static final Operator AVG_POOL = Operator.find("aten::avg_pool2d", "");
    static final Operator DROPOUT = Operator.find("aten::dropout", "");
  }

  public static Tensor relu(Tensor input) {
    return input.relu();
  }

  /** Of [N, C, H, W] over squares of side {@code kernel}, without overlap. */
  public static Tensor maxPool2d(Tensor input, long kernel) {
    return Ops.MAX_POOL.call(input, new long[] {kernel, kernel});
  }

  public static Tensor avgPool2d(Tensor input, long kernel) {
    return Ops.AVG_POOL.call(input, new long[] {kernel, kernel});
  }

  public static Tensor dropout(Tensor input, double probability, boolean training) {
    return Ops.DROPOUT.call(input, probability, training);
  }

  /** Mean over the batch; {@code logits} [N, classes], {@code labels} [N] of int64. */
  public static Tensor crossEntropy(Tensor logits, Tensor labels) {
    return Ops.CROSS_ENTROPY.call(logits, labels);
  }

  /** Mean over the batch; {@code logProbabilities} [N, classes], {@code labels} [N] of int64. */
  public static Tensor nllLoss(Tensor logProbabilities, Tensor labels) {
    return Ops.NLL.call(logProbabilities, labels);
  }

  public static Tensor mseLoss(Tensor input, Tensor target) {
    return Ops.MSE.call(input, target);
  }
}
