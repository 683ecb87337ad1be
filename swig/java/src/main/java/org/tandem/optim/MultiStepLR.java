package org.tandem.optim;

/** Multiplies rates with gamma at each milestone. Source: torch.optim.lr_scheduler.MultiStepLR. */
public final class MultiStepLR extends LRScheduler {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options gamma(double value) { return set("gamma", value); }

    /** Steps that were made already; -1, the default, begins anew. The optimizer must have had a scheduler before. */
    public Options lastEpoch(long value) { return set("last_epoch", value); }
  }

  public MultiStepLR(Optimizer optimizer, long[] milestones) { this(optimizer, milestones, new Options()); }

  public MultiStepLR(Optimizer optimizer, long[] milestones, Options more) {
    super("MultiStepLR", optimizer, more.with("milestones", milestones));
  }
}
