package org.tandem.optim;

import java.util.List;
import org.tandem.Tensor;

/** Divides steps by the root of the sum of squared gradients. Source: torch.optim.Adagrad. */
public final class Adagrad extends Optimizer {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options lrDecay(double value) { return set("lr_decay", value); }

    public Options weightDecay(double value) { return set("weight_decay", value); }

    public Options initialAccumulatorValue(double value) { return set("initial_accumulator_value", value); }

    public Options eps(double value) { return set("eps", value); }

    public Options maximize(boolean value) { return set("maximize", value); }
  }

  public Adagrad(List<Tensor> parameters, double learningRate) {
    this(parameters, learningRate, new Options());
  }

  public Adagrad(List<Tensor> parameters, double learningRate, Options more) {
    super("Adagrad", parameters, more.with("lr", learningRate));
  }
}
