package org.tandem.internal;

import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * Base of SWIG's proxies: one native object, freed once.
 *
 * <p>It is freed by {@link #close()}, by the scope that owns it (tensors only), or when it is no longer reachable.
 * Groups, stores, loaders and the like are never freed by the collector, since ranks would then leave at different
 * times; they are only reported.
 */
public abstract class NativeHandle implements AutoCloseable {
  enum Kind {
    TENSOR,
    COLLECTED,
    REPORTED;

    private static final Set<String> REPORTED_TYPES =
        Set.of("NativeStore", "NativeProcessGroup", "NativeDdp", "NativeLoader", "NativeDynamicLoader",
            "NativeRecordIOWriter");

    static Kind of(String type) {
      return type.equals("NativeTensor") ? TENSOR : REPORTED_TYPES.contains(type) ? REPORTED : COLLECTED;
    }
  }

  private static final Cleaner CLEANER = Cleaner.create();
  private static final AtomicLong LEAKED = new AtomicLong();

  /** Address of the C++ object; 0 once closed. The name is the one that generated code uses. */
  protected long swigCPtr;

  private final Release release;
  private Cleaner.Cleanable cleanable;
  private ScopeFrame frame;

  NativeHandle(long pointer, Kind kind, LongConsumer delete) {
    swigCPtr = pointer;
    release = new Release(pointer, kind, getClass().getSimpleName(), delete);
    if (kind == Kind.TENSOR) {
      frame = ScopeFrame.current();
      if (frame != null) {
        frame.add(this);
        return;
      }
      MemoryPressure.relieve();
    }
    cleanable = CLEANER.register(this, release);
  }

  static long getCPtr(NativeHandle handle) {
    return handle == null ? 0 : handle.swigCPtr;
  }

  static long[] pointers(NativeHandle[] handles) {
    long[] pointers = new long[handles.length];
    for (int i = 0; i < pointers.length; i++) {
      pointers[i] = getCPtr(handles[i]);
    }
    return pointers;
  }

  public boolean isClosed() {
    return swigCPtr == 0;
  }

  /** Frees the native object now. A second call does nothing. */
  @Override
  public synchronized void close() {
    if (swigCPtr == 0) {
      return;
    }
    swigCPtr = 0;
    release.free();
    if (cleanable != null) {
      cleanable.clean();
    }
  }

  /** Closes this object without freeing the native one, which is the caller's then. */
  synchronized long handOver() {
    long pointer = swigCPtr;
    swigCPtr = 0;
    release.forget();
    if (cleanable != null) {
      cleanable.clean();
    }
    return pointer;
  }

  /** Hands this object to {@code next}, or to the collector when that is null. */
  void moveTo(ScopeFrame next) {
    frame = next;
    if (next != null) {
      next.add(this);
    } else if (cleanable == null) {
      cleanable = CLEANER.register(this, release);
    }
  }

  ScopeFrame frame() {
    return frame;
  }

  /** Objects of reported kinds that became unreachable without close(). */
  public static long leaked() {
    return LEAKED.get();
  }

  /** Runs {@code action} when {@code object} is no longer reachable. */
  public static void whenUnreachable(Object object, Runnable action) {
    CLEANER.register(object, action);
  }

  /** What is left of a handle when it is gone; holds no reference to it. */
  private static final class Release implements Runnable {
    private long pointer;
    private final Kind kind;
    private final String type;
    private final LongConsumer delete;

    Release(long pointer, Kind kind, String type, LongConsumer delete) {
      this.pointer = pointer;
      this.kind = kind;
      this.type = type;
      this.delete = delete;
    }

    synchronized void forget() {
      pointer = 0;
    }

    synchronized void free() {
      if (pointer == 0) {
        return;
      }
      long freed = pointer;
      pointer = 0;
      try {
        delete.accept(freed);
      } catch (org.tandem.TandemClosedException atExit) {
        // After Tandem.shutdown() the process ends, and its memory with it.
      }
    }

    @Override
    public void run() {
      if (kind != Kind.REPORTED) {
        free();
      } else if (pointer != 0) {
        LEAKED.incrementAndGet();
        System.getLogger("org.tandem")
            .log(Level.WARNING, "a {0} was dropped without close(); it stays open until the process ends",
                type.substring("Native".length()));
      }
    }
  }
}
