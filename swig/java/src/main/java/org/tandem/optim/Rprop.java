package org.tandem.optim;

import java.util.List;
import org.tandem.Tensor;

/**
 * Steps by the gradients' signs, with a size for each element. For gradients of all samples at once.
 * Source: torch.optim.Rprop.
 */
public final class Rprop extends Optimizer {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    /** What a step is multiplied with when the gradient turns, and when it does not. */
    public Options etas(double first, double second) { return set("etas", new double[] {first, second}); }

    /** Least and most. */
    public Options stepSizes(double first, double second) { return set("step_sizes", new double[] {first, second}); }

    public Options maximize(boolean value) { return set("maximize", value); }
  }

  public Rprop(List<Tensor> parameters, double learningRate) { this(parameters, learningRate, new Options()); }

  public Rprop(List<Tensor> parameters, double learningRate, Options more) {
    super("Rprop", parameters, more.with("lr", learningRate));
  }
}
