package org.tandem.optim;

import java.util.List;
import org.tandem.Options;
import org.tandem.Tensor;

/** Adagrad. Source: torch.optim.Adagrad. */
public final class Adagrad extends Optimizer {
  public Adagrad(List<Tensor> parameters, double learningRate) {
    this(parameters, learningRate, new Options());
  }

  /** {@code more}: "lr_decay", "weight_decay", "initial_accumulator_value", "eps". */
  public Adagrad(List<Tensor> parameters, double learningRate, Options more) {
    super("Adagrad", parameters, more.set("lr", learningRate));
  }
}
