package org.tandem.optim;

/** Goes from one factor of the rates to another: a warm-up. Source: torch.optim.lr_scheduler.LinearLR. */
public final class LinearLR extends LRScheduler {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    public Options startFactor(double value) { return set("start_factor", value); }

    public Options endFactor(double value) { return set("end_factor", value); }

    public Options totalIters(long value) { return set("total_iters", value); }

    /** Steps that were made already; -1, the default, begins anew. The optimizer must have had a scheduler before. */
    public Options lastEpoch(long value) { return set("last_epoch", value); }
  }

  public LinearLR(Optimizer optimizer) { this(optimizer, new Options()); }

  public LinearLR(Optimizer optimizer, Options more) { super("LinearLR", optimizer, more.all()); }
}
