package org.tandem.optim;

import java.util.List;
import org.tandem.Options;
import org.tandem.Tensor;

/** Stochastic gradient descent. Source: torch.optim.SGD. */
public final class SGD extends Optimizer {
  public SGD(List<Tensor> parameters, double learningRate) {
    this(parameters, learningRate, new Options());
  }

  /** {@code more}: "momentum", "dampening", "weight_decay", "nesterov". */
  public SGD(List<Tensor> parameters, double learningRate, Options more) {
    super("SGD", parameters, more.set("lr", learningRate));
  }
}
