package org.tandem.elastic;

/**
 * What {@link Elastic#run} calls, once a membership epoch: it trains with the job's ranks, and returns when training is over.
 *
 * @param <E> the checked exceptions that it throws; none: RuntimeException, which the compiler finds by itself
 */
@FunctionalInterface
public interface Training<E extends Exception> {
  void run(Job job) throws E;
}
