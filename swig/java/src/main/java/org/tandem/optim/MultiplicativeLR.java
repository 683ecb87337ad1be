package org.tandem.optim;

import org.tandem.internal.OwnFunctions;

/** Multiplies each group's rate with a function at each step. Source: torch.optim.lr_scheduler.MultiplicativeLR. */
public final class MultiplicativeLR extends LRScheduler {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    /** Steps that were made already; -1, the default, begins anew. The optimizer must have had a scheduler before. */
    public Options lastEpoch(long value) { return set("last_epoch", value); }
  }

  public MultiplicativeLR(Optimizer optimizer, LambdaLR.Factor factor) { this(optimizer, factor, new Options()); }

  public MultiplicativeLR(Optimizer optimizer, LambdaLR.Factor factor, Options more) {
    super(OwnFunctions.scheduler(
        "MultiplicativeLR", optimizer.open(), more.all(), (group, at) -> factor.at((int) group, (long) at)));
  }
}
