package org.tandem.nn;

/** Is called before a forward; see {@link Module#registerForwardPreHook}. */
@FunctionalInterface
public interface ForwardPreHook {
  /**
   * @param inputs what goes in
   * @return what takes the inputs' place; null leaves them
   */
  Object[] before(Module module, Object[] inputs);
}
