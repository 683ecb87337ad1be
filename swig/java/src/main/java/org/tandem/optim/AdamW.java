package org.tandem.optim;

import java.util.List;
import org.tandem.Options;
import org.tandem.Tensor;

/** Adam with decoupled weight decay. Source: torch.optim.AdamW. */
public final class AdamW extends Optimizer {
  public AdamW(List<Tensor> parameters, double learningRate) {
    this(parameters, learningRate, new Options());
  }

  /** {@code more}: "betas" (double[2]), "eps", "weight_decay", "amsgrad". */
  public AdamW(List<Tensor> parameters, double learningRate, Options more) {
    super("AdamW", parameters, more.set("lr", learningRate));
  }
}
