package org.tandem.optim;

import org.tandem.internal.NativeLrScheduler;

/**
 * All schedulers at each step, each on what the one before made. They are of one optimizer, and are not stepped by
 * themselves any more. Source: torch.optim.lr_scheduler.ChainedScheduler.
 */
public final class ChainedScheduler extends LRScheduler {
  public ChainedScheduler(LRScheduler... schedulers) { super(NativeLrScheduler.chained(handles(schedulers))); }
}
