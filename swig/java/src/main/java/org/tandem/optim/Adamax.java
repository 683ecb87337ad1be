package org.tandem.optim;

import java.util.List;
import org.tandem.Tensor;

/** Adam with the infinity norm. Source: torch.optim.Adamax. */
public final class Adamax extends Optimizer {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options betas(double first, double second) { return set("betas", new double[] {first, second}); }

    public Options eps(double value) { return set("eps", value); }

    public Options weightDecay(double value) { return set("weight_decay", value); }

    public Options maximize(boolean value) { return set("maximize", value); }
  }

  public Adamax(List<Tensor> parameters, double learningRate) { this(parameters, learningRate, new Options()); }

  public Adamax(List<Tensor> parameters, double learningRate, Options more) {
    super("Adamax", parameters, more.with("lr", learningRate));
  }
}
