package org.tandem.optim;

import java.util.List;
import org.tandem.Tensor;

/** Adapts each parameter's step to its gradients' first two moments. Source: torch.optim.Adam. */
public final class Adam extends Optimizer {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options betas(double first, double second) { return set("betas", new double[] {first, second}); }

    public Options eps(double value) { return set("eps", value); }

    public Options weightDecay(double value) { return set("weight_decay", value); }

    public Options amsgrad(boolean value) { return set("amsgrad", value); }

    /** As {@link AdamW}. */
    public Options decoupledWeightDecay(boolean value) { return set("decoupled_weight_decay", value); }

    public Options maximize(boolean value) { return set("maximize", value); }
  }

  public Adam(List<Tensor> parameters, double learningRate) {
    this(parameters, learningRate, new Options());
  }

  public Adam(List<Tensor> parameters, double learningRate, Options more) {
    super("Adam", parameters, more.with("lr", learningRate));
  }
}
