package org.tandem.nn;

import org.tandem.Options;

/** Convolution of [N, C, H, W]. Source: torch.nn.Conv2d. */
public final class Conv2d extends TorchModule {
  /** A square kernel with stride 1 and no padding. */
  public Conv2d(long inChannels, long outChannels, long kernel) {
    this(inChannels, outChannels, kernel, new Options());
  }

  /** {@code more}: "stride", "padding", "dilation" (long[2]), "groups" (long), "bias" (boolean). */
  public Conv2d(long inChannels, long outChannels, long kernel, Options more) {
    super("Conv2d", more.set("in_channels", inChannels).set("out_channels", outChannels)
        .set("kernel_size", new long[] {kernel, kernel}));
  }
}
