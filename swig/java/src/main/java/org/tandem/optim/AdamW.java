package org.tandem.optim;

import java.util.List;
import org.tandem.Tensor;

/** Adam with decoupled weight decay. Source: torch.optim.AdamW. */
public final class AdamW extends Optimizer {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options betas(double first, double second) { return set("betas", new double[] {first, second}); }

    public Options eps(double value) { return set("eps", value); }

    public Options weightDecay(double value) { return set("weight_decay", value); }

    public Options amsgrad(boolean value) { return set("amsgrad", value); }

    public Options maximize(boolean value) { return set("maximize", value); }
  }

  public AdamW(List<Tensor> parameters, double learningRate) {
    this(parameters, learningRate, new Options());
  }

  public AdamW(List<Tensor> parameters, double learningRate, Options more) {
    super("AdamW", parameters, more.with("lr", learningRate));
  }
}
