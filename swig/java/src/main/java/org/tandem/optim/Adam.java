package org.tandem.optim;

import java.util.List;
import org.tandem.Options;
import org.tandem.Tensor;

/** Adam. Source: torch.optim.Adam. */
public final class Adam extends Optimizer {
  public Adam(List<Tensor> parameters, double learningRate) {
    this(parameters, learningRate, new Options());
  }

  /** {@code more}: "betas" (double[2]), "eps", "weight_decay", "amsgrad". */
  public Adam(List<Tensor> parameters, double learningRate, Options more) {
    super("Adam", parameters, more.set("lr", learningRate));
  }
}
