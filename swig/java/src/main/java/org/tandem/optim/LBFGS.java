package org.tandem.optim;

import java.util.List;
import org.tandem.Tensor;

/**
 * Steps by the loss's curvature, which it estimates from the gradients before. It looks at all parameters together, and
 * computes the loss several times a step: step it by {@link #step(Closure)}. Its usual learning rate is 1.
 * Source: torch.optim.LBFGS.
 */
public final class LBFGS extends Optimizer {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    /** Iterations a step. */
    public Options maxIter(long value) { return set("max_iter", value); }

    /** Evaluations of the closure a step; unset: a quarter more than iterations. */
    public Options maxEval(long value) { return set("max_eval", value); }

    /** A step ends where no gradient is larger. */
    public Options toleranceGrad(double value) { return set("tolerance_grad", value); }

    /** A step ends where loss and parameters change by less. */
    public Options toleranceChange(double value) { return set("tolerance_change", value); }

    public Options historySize(long value) { return set("history_size", value); }

    /** "strong_wolfe"; unset: none. */
    public Options lineSearchFn(String value) { return set("line_search_fn", value); }
  }

  public LBFGS(List<Tensor> parameters, double learningRate) { this(parameters, learningRate, new Options()); }

  public LBFGS(List<Tensor> parameters, double learningRate, Options more) {
    super("LBFGS", parameters, more.with("lr", learningRate));
  }
}
