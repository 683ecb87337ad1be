package org.tandem.nn;

import org.tandem.Options;

/** Zeroes elements with a probability while training. Source: torch.nn.Dropout. */
public final class Dropout extends TorchModule {
  public Dropout(double probability) {
    super("Dropout", new Options().set("p", probability));
  }
}
