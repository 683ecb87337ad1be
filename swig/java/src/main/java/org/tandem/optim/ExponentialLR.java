package org.tandem.optim;

/** Multiplies rates with {@code gamma} at each step. Source: torch.optim.lr_scheduler.ExponentialLR. */
public final class ExponentialLR extends LRScheduler {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    /** Steps that were made already; -1, the default, begins anew. The optimizer must have had a scheduler before. */
    public Options lastEpoch(long value) { return set("last_epoch", value); }
  }

  public ExponentialLR(Optimizer optimizer, double gamma) { this(optimizer, gamma, new Options()); }

  public ExponentialLR(Optimizer optimizer, double gamma, Options more) {
    super("ExponentialLR", optimizer, more.with("gamma", gamma));
  }
}
