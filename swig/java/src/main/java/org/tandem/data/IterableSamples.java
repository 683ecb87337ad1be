package org.tandem.data;

/**
 * The program's own samples, one after the other: see {@link Dataset#of(IterableSamples, String...)}. Each epoch is a
 * sequence of them, made anew from its start by {@link #open}, whose order may follow from seed and epoch.
 *
 * <p>As far as every stream of an epoch gives the same samples, in every process, all holds that does for other data
 * sets: global batches are the same on any number of ranks, states resume, each sample comes once. What it gives up: each
 * rank, and each of a loader's threads, has a stream of its own and goes through all samples, skipping those that are
 * others'; the loader does not shuffle; and with an unknown size the number of batches is unknown too.
 */
public interface IterableSamples {
  /** Called by several threads at once. */
  SampleStream open(long seed, long epoch) throws Exception;

  /** Samples of each epoch; -1: unknown. */
  default long size() {
    return -1;
  }

  /** As {@link Samples#fingerprint}. */
  default long fingerprint() {
    return 0;
  }
}
