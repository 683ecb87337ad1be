package org.tandem.nn;

import org.tandem.Options;

/** Normalises each channel of [N, C, H, W]. Source: torch.nn.BatchNorm2d. */
public final class BatchNorm2d extends TorchModule {
  public BatchNorm2d(long features) {
    super("BatchNorm2d", new Options().set("num_features", features));
  }
}
