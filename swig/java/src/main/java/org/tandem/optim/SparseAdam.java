package org.tandem.optim;

import java.util.List;
import org.tandem.Tensor;

/**
 * Adam for sparse gradients, as of embeddings: what no row of a gradient is about stays.
 * Source: torch.optim.SparseAdam.
 */
public final class SparseAdam extends Optimizer {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options betas(double first, double second) { return set("betas", new double[] {first, second}); }

    public Options eps(double value) { return set("eps", value); }

    public Options maximize(boolean value) { return set("maximize", value); }
  }

  public SparseAdam(List<Tensor> parameters, double learningRate) { this(parameters, learningRate, new Options()); }

  public SparseAdam(List<Tensor> parameters, double learningRate, Options more) {
    super("SparseAdam", parameters, more.with("lr", learningRate));
  }
}
