package org.tandem.optim;

import java.util.List;
import org.tandem.Tensor;

/** Makes steps of the size of the steps before. Its usual learning rate is 1. Source: torch.optim.Adadelta. */
public final class Adadelta extends Optimizer {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options rho(double value) { return set("rho", value); }

    public Options eps(double value) { return set("eps", value); }

    public Options weightDecay(double value) { return set("weight_decay", value); }

    public Options maximize(boolean value) { return set("maximize", value); }
  }

  public Adadelta(List<Tensor> parameters, double learningRate) { this(parameters, learningRate, new Options()); }

  public Adadelta(List<Tensor> parameters, double learningRate, Options more) {
    super("Adadelta", parameters, more.with("lr", learningRate));
  }
}
