package org.tandem.optim;

import java.util.List;
import org.tandem.Tensor;

/** Adam that adapts steps only when it knows enough of the gradients' variance. Source: torch.optim.RAdam. */
public final class RAdam extends Optimizer {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options betas(double first, double second) { return set("betas", new double[] {first, second}); }

    public Options eps(double value) { return set("eps", value); }

    public Options weightDecay(double value) { return set("weight_decay", value); }

    public Options decoupledWeightDecay(boolean value) { return set("decoupled_weight_decay", value); }

    public Options maximize(boolean value) { return set("maximize", value); }
  }

  public RAdam(List<Tensor> parameters, double learningRate) { this(parameters, learningRate, new Options()); }

  public RAdam(List<Tensor> parameters, double learningRate, Options more) {
    super("RAdam", parameters, more.with("lr", learningRate));
  }
}
