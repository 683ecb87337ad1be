package org.tandem.optim;

/** Multiplies rates with gamma every {@code stepSize} steps. Source: torch.optim.lr_scheduler.StepLR. */
public final class StepLR extends LRScheduler {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options gamma(double value) { return set("gamma", value); }

    /** Steps that were made already; -1, the default, begins anew. The optimizer must have had a scheduler before. */
    public Options lastEpoch(long value) { return set("last_epoch", value); }
  }

  public StepLR(Optimizer optimizer, long stepSize) { this(optimizer, stepSize, new Options()); }

  public StepLR(Optimizer optimizer, long stepSize, Options more) {
    super("StepLR", optimizer, more.with("step_size", stepSize));
  }
}
