package org.tandem.optim;

import java.util.List;
import org.tandem.Options;
import org.tandem.Tensor;

/** RMSprop. Source: torch.optim.RMSprop. */
public final class RMSprop extends Optimizer {
  public RMSprop(List<Tensor> parameters, double learningRate) {
    this(parameters, learningRate, new Options());
  }

  /** {@code more}: "alpha", "eps", "weight_decay", "momentum", "centered". */
  public RMSprop(List<Tensor> parameters, double learningRate, Options more) {
    super("RMSprop", parameters, more.set("lr", learningRate));
  }
}
