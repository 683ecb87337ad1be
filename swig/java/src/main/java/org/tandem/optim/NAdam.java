package org.tandem.optim;

import java.util.List;
import org.tandem.Tensor;

/** Adam with Nesterov momentum. Source: torch.optim.NAdam. */
public final class NAdam extends Optimizer {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options betas(double first, double second) { return set("betas", new double[] {first, second}); }

    public Options eps(double value) { return set("eps", value); }

    public Options weightDecay(double value) { return set("weight_decay", value); }

    public Options momentumDecay(double value) { return set("momentum_decay", value); }

    public Options decoupledWeightDecay(boolean value) { return set("decoupled_weight_decay", value); }

    public Options maximize(boolean value) { return set("maximize", value); }
  }

  public NAdam(List<Tensor> parameters, double learningRate) { this(parameters, learningRate, new Options()); }

  public NAdam(List<Tensor> parameters, double learningRate, Options more) {
    super("NAdam", parameters, more.with("lr", learningRate));
  }
}
