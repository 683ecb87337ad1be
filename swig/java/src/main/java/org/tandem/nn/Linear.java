package org.tandem.nn;

import org.tandem.Options;

/** y = x · weightᵀ + bias over the last dimension. Source: torch.nn.Linear. */
public final class Linear extends TorchModule {
  public Linear(long inFeatures, long outFeatures) {
    this(inFeatures, outFeatures, true);
  }

  public Linear(long inFeatures, long outFeatures, boolean bias) {
    super("Linear",
        new Options().set("in_features", inFeatures).set("out_features", outFeatures).set("bias", bias));
  }
}
