package org.tandem.optim;

import java.util.List;
import org.tandem.Tensor;

/** Keeps of a matrix the second moments of rows and columns alone. Source: torch.optim.Adafactor. */
public final class Adafactor extends Optimizer {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options beta2Decay(double value) { return set("beta2_decay", value); }

    /** Unset: of the parameter's dtype. */
    public Options eps1(double value) { return set("eps1", value); }

    public Options eps2(double value) { return set("eps2", value); }

    public Options d(double value) { return set("d", value); }

    public Options weightDecay(double value) { return set("weight_decay", value); }

    public Options maximize(boolean value) { return set("maximize", value); }
  }

  public Adafactor(List<Tensor> parameters, double learningRate) { this(parameters, learningRate, new Options()); }

  public Adafactor(List<Tensor> parameters, double learningRate, Options more) {
    super("Adafactor", parameters, more.with("lr", learningRate));
  }
}
