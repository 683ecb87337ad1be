package org.tandem.optim;

/**
 * Follows half a cosine down and begins anew, the first time after {@code t0} steps. Source:
 * torch.optim.lr_scheduler.CosineAnnealingWarmRestarts.
 */
public final class CosineAnnealingWarmRestarts extends LRScheduler {
  /** What is not set has PyTorch's default. */
  public static final class Options extends Settings<Options> {
    /** How much longer each cycle is than the one before. */
    public Options tMult(long value) { return set("T_mult", value); }

    /** The least rate. */
    public Options etaMin(double value) { return set("eta_min", value); }

    /** Steps that were made already; -1, the default, begins anew. The optimizer must have had a scheduler before. */
    public Options lastEpoch(long value) { return set("last_epoch", value); }
  }

  public CosineAnnealingWarmRestarts(Optimizer optimizer, long t0) { this(optimizer, t0, new Options()); }

  public CosineAnnealingWarmRestarts(Optimizer optimizer, long t0, Options more) {
    super("CosineAnnealingWarmRestarts", optimizer, more.with("T_0", t0));
  }

  /** To any place, also within an epoch, as in epoch + batch / batches. */
  public void step(double epoch) { open().stepTo(epoch); }
}
