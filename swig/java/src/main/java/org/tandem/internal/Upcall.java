package org.tandem.internal;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.tandem.TandemClosedException;
import org.tandem.Tensor;

/**
 * A call of native code, on whichever thread, into the program: in a scope of its own, so that what it makes is freed
 * when it returns, but what it gives back; and not while the process ends.
 */
final class Upcall {
  /** What is called. */
  interface Body<T> {
    T run() throws Exception;
  }

  private static final Set<Thread> INSIDE = ConcurrentHashMap.newKeySet();
  private static final ClassLoader LOADER = Upcall.class.getClassLoader();
  private static volatile boolean ended;

  private Upcall() {}

  /** No call begins from here on; those that run are interrupted, since native code waits for them. */
  static void end() {
    ended = true;
    INSIDE.forEach(Thread::interrupt);
  }

  /** Whether native code called what this thread runs. */
  static boolean isInside() {
    return INSIDE.contains(Thread.currentThread());
  }

  /** Whatever the body throws comes out as it is. */
  static <T> T run(Body<T> body) {
    Thread thread = Thread.currentThread();
    if (thread.getContextClassLoader() == null) {
      thread.setContextClassLoader(LOADER); // a native thread
    }
    boolean outermost = INSIDE.add(thread);
    ScopeFrame frame = ScopeFrame.enter();
    try {
      if (ended) { // end() either finds this thread, or is found
        throw new TandemClosedException("callback", "Tandem was shut down before this call of the program");
      }
      return body.run();
    } catch (Exception thrown) {
      throw Upcall.<RuntimeException>unchecked(thrown);
    } finally {
      frame.exit();
      if (outermost) {
        INSIDE.remove(thread);
      }
    }
  }

  /** For a body that gives a sample: its native objects, which are the caller's; null for null. */
  static long[] sample(Body<Tensor[]> body) {
    return run(() -> {
      ScopeFrame frame = ScopeFrame.current();
      Tensor[] sample = body.run();
      return sample == null ? null : handOver(sample, frame);
    });
  }

  /** Tensors around native objects, which they own, in the current scope. */
  static Tensor[] received(long[] pointers) {
    Tensor[] sample = new Tensor[pointers.length];
    for (int i = 0; i < sample.length; i++) {
      sample[i] = pointers[i] == 0 ? null : Natives.tensor(new NativeTensor(pointers[i], true));
    }
    return sample;
  }

  /** Tensors of the call's own go over as they are; of others, which the program keeps, go second handles. */
  private static long[] handOver(Tensor[] sample, ScopeFrame frame) {
    NativeTensor[] handles = new NativeTensor[sample.length];
    for (int i = 0; i < handles.length; i++) {
      handles[i] = sample[i] == null ? null : Natives.of(sample[i]);
    }
    long[] pointers = new long[handles.length];
    int count = 0;
    try {
      for (; count < handles.length; count++) {
        if (handles[count] != null) {
          boolean own = handles[count].frame() == frame && !isLater(handles, count);
          long given = own ? handles[count].handOver() : 0;
          pointers[count] = given != 0 ? given : share(handles[count]);
        }
      }
    } finally {
      for (int i = 0; count < handles.length && i < count; i++) { // nobody takes them
        if (pointers[i] != 0) {
          new NativeTensor(pointers[i], true).close();
        }
      }
    }
    return pointers;
  }

  private static long share(NativeTensor handle) {
    handle.pin();
    try {
      return TandemJNI.NativeTensor_share(NativeHandle.getCPtr(handle), handle);
    } finally {
      handle.unpin();
    }
  }

  private static boolean isLater(NativeTensor[] handles, int index) {
    for (int i = index + 1; i < handles.length; i++) {
      if (handles[i] == handles[index]) {
        return true;
      }
    }
    return false;
  }

  @SuppressWarnings("unchecked")
  private static <E extends Exception> E unchecked(Exception thrown) throws E {
    throw (E) thrown;
  }
}
