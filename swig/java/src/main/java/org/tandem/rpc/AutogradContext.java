package org.tandem.rpc;

import java.util.Arrays;
import org.tandem.TandemClosedException;
import org.tandem.Tensor;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeTensor;
import org.tandem.internal.Natives;
import org.tandem.internal.TandemNative;

/**
 * One pass forward and back over several workers. While it is open, calls of its thread take part, and functions that are called
 * inside of it have it as theirs:
 *
 * <pre>{@code
 * try (AutogradContext pass = new AutogradContext()) {
 *   Tensor hidden = (Tensor) Rpc.call("worker1", "encode", x);
 *   pass.backward(loss(hidden, y));
 *   optimizer.step(pass);
 * }
 * }</pre>
 *
 * Gradients are kept with it, on each worker for the parameters there, instead of in the tensors' grad. Contexts of a thread nest;
 * each is closed on the thread that opened it. Source: torch.distributed.autograd.
 */
public final class AutogradContext implements AutoCloseable {
  private static final ThreadLocal<AutogradContext> OPEN = new ThreadLocal<>();

  private final long id;
  private final boolean own;
  private final AutogradContext outer;
  private boolean closed;

  /** @throws TandemClosedException outside of {@link Rpc#init} and {@link Rpc#shutdown} */
  public AutogradContext() {
    NativeLibrary.load();
    id = TandemNative.distAutogradNewContext();
    own = true;
    outer = OPEN.get();
    OPEN.set(this);
  }

  private AutogradContext(long id) {
    this.id = id;
    own = false;
    outer = null;
  }

  /** That of another worker, as functions that are called before and after a step are told it. Closing it does nothing. */
  public static AutogradContext of(long id) { return new AutogradContext(id); }

  /** That of this thread, in which calls take part; null for none. */
  static AutogradContext open() { return OPEN.get(); }

  /** The same on all workers. */
  public long id() { return id; }

  long checked() {
    if (closed) {
      throw new TandemClosedException("AutogradContext", "the context was closed before this use");
    }
    return id;
  }

  /**
   * From the roots, tensors of one number each, through all workers that took part. Blocks.
   *
   * @throws org.tandem.TandemInvalidArgumentException roots without history
   * @throws org.tandem.TandemException what a node of the graph failed with, on whatever worker
   */
  public void backward(Tensor... roots) {
    TandemNative.distAutogradBackward(checked(), Natives.of(Arrays.asList(roots)), false);
  }

  /** Of tensors of this worker's; null where there is none. */
  public Tensor[] gradients(Tensor... of) {
    NativeTensor[] found = TandemNative.distAutogradGradients(checked(), Natives.of(Arrays.asList(of)));
    Tensor[] gradients = new Tensor[found.length];
    for (int i = 0; i < found.length; i++) {
      if (!found[i].isClosed()) { // there is one
        gradients[i] = Natives.tensor(found[i]);
      }
    }
    return gradients;
  }

  /** Drops what all workers keep of it. A second call does nothing. */
  @Override
  public void close() {
    if (closed || !own) {
      return;
    }
    closed = true;
    OPEN.set(outer);
    try {
      TandemNative.distAutogradReleaseContext(id);
    } catch (TandemClosedException left) {
      // The session is over, and with it what workers keep.
    }
  }
}
