package org.tandem.optim;

/** Follows half a cosine down in {@code tMax} steps, and back. Source: torch.optim.lr_scheduler.CosineAnnealingLR. */
public final class CosineAnnealingLR extends LRScheduler {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    /** The least rate. */
    public Options etaMin(double value) { return set("eta_min", value); }

    /** Steps that were made already; -1, the default, begins anew. The optimizer must have had a scheduler before. */
    public Options lastEpoch(long value) { return set("last_epoch", value); }
  }

  public CosineAnnealingLR(Optimizer optimizer, long tMax) { this(optimizer, tMax, new Options()); }

  public CosineAnnealingLR(Optimizer optimizer, long tMax, Options more) {
    super("CosineAnnealingLR", optimizer, more.with("T_max", tMax));
  }
}
