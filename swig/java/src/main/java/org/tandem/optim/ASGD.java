package org.tandem.optim;

import java.util.List;
import org.tandem.Tensor;

/**
 * Stochastic gradient descent that averages parameters from step t0 on, as "ax" of its state.
 * Source: torch.optim.ASGD.
 */
public final class ASGD extends Optimizer {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options lambd(double value) { return set("lambd", value); }

    public Options alpha(double value) { return set("alpha", value); }

    public Options t0(double value) { return set("t0", value); }

    public Options weightDecay(double value) { return set("weight_decay", value); }

    public Options maximize(boolean value) { return set("maximize", value); }
  }

  public ASGD(List<Tensor> parameters, double learningRate) { this(parameters, learningRate, new Options()); }

  public ASGD(List<Tensor> parameters, double learningRate, Options more) {
    super("ASGD", parameters, more.with("lr", learningRate));
  }
}
