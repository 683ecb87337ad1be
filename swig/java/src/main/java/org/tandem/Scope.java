package org.tandem;

import org.tandem.internal.ScopeFrame;

/**
 * Frees, when closed, every tensor that its thread made since it was opened, but those kept.
 *
 * <pre>{@code
 * try (Scope scope = Scope.open()) {
 *   Tensor loss = model.forward(images).crossEntropy(labels);
 *   loss.backward();
 *   total += loss.item();
 * }
 * }</pre>
 *
 * Parameters, their gradients and the optimizer's state survive. A scope belongs to the thread that opened it; scopes
 * nest. Tensors made outside any scope live until they are closed or are no longer reachable.
 *
 * <p>A scope that is dropped without close(), or whose thread ends, is reported by a warning, and its tensors go when they
 * are no longer reachable. The system property {@code org.tandem.traceScopes=true} has the warning say where it was
 * opened, which costs each {@link #open} a look at the stack.
 */
public final class Scope implements AutoCloseable {
  private final ScopeFrame frame = ScopeFrame.enter(this);

  private Scope() {}

  public static Scope open() {
    return new Scope();
  }

  /** Lets {@code tensor} live on in the scope around its own, or on its own when there is none. */
  public <T extends Tensor> T keep(T tensor) {
    ScopeFrame.keep(tensor.nativeHandle());
    return tensor;
  }

  /**
   * Takes {@code tensor} out of all scopes: it lives until it is closed or is no longer reachable. For what the callbacks
   * of a data set, which run in a scope of their own, keep beyond the call.
   */
  public static <T extends Tensor> T release(T tensor) {
    ScopeFrame.release(tensor.nativeHandle());
    return tensor;
  }

  /**
   * Frees them. A second call does nothing.
   *
   * @throws TandemInvalidArgumentException on another thread than the one that opened it, unless that has ended
   */
  @Override
  public void close() {
    frame.exit();
  }
}
