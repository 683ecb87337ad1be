package org.tandem.internal;

import java.lang.ref.Cleaner;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.function.Supplier;
import org.tandem.TandemInvalidArgumentException;

/**
 * The tensors that one thread made between a scope's begin and end.
 *
 * <p>A frame whose scope was dropped, or whose thread ended, ends without its {@link #exit}: that is reported, and its
 * tensors, which somebody may still have, go over to the collector.
 */
public final class ScopeFrame {
  private static final boolean TRACED = Boolean.getBoolean("org.tandem.traceScopes");
  private static final ThreadLocal<Frames> FRAMES = ThreadLocal.withInitial(Frames::new);

  /** A thread's frames. The thread alone refers to it, so that it is unreachable when that has ended. */
  private static final class Frames {
    private final Stack stack = new Stack(Thread.currentThread());

    Frames() {
      NativeHandle.CLEANER.register(this, stack::threadEnded);
    }
  }

  /** What is left of a thread's frames when it has ended; holds no reference to it. */
  private static final class Stack {
    private final WeakReference<Thread> thread;
    private final String name;
    private volatile ScopeFrame top;

    Stack(Thread thread) {
      this.thread = new WeakReference<>(thread);
      this.name = thread.getName();
    }

    /** The innermost frame that has not ended. */
    ScopeFrame current() {
      ScopeFrame frame = top;
      if (frame != null && frame.ended) {
        while (frame != null && frame.ended) {
          frame = frame.parent;
        }
        top = frame;
      }
      return frame;
    }

    void threadEnded() {
      for (ScopeFrame frame = top; frame != null; frame = frame.parent) {
        frame.abandon("its thread ended without closing it");
      }
    }
  }

  private final ScopeFrame parent;
  private final Stack stack;
  private StackTraceElement opened;
  private Cleaner.Cleanable ofScope;
  private ArrayList<NativeHandle> handles = new ArrayList<>();
  private volatile boolean ended;

  private ScopeFrame(Stack stack) {
    this.stack = stack;
    this.parent = stack.current();
  }

  static ScopeFrame current() {
    return FRAMES.get().stack.current();
  }

  /** The caller ends it whatever happens. */
  static ScopeFrame enter() {
    Stack stack = FRAMES.get().stack;
    ScopeFrame frame = new ScopeFrame(stack);
    stack.top = frame;
    return frame;
  }

  /** Ends, with a report, at the latest when {@code scope}, to which it does not refer, is no longer reachable. */
  public static ScopeFrame enter(Object scope) {
    ScopeFrame frame = enter();
    if (TRACED) {
      frame.opened = StackWalker.getInstance().walk(
          frames -> frames.skip(3).findFirst().map(StackWalker.StackFrame::toStackTraceElement).orElse(null));
    }
    frame.ofScope = NativeHandle.CLEANER.register(scope, () -> frame.abandon("it was dropped without close()"));
    return frame;
  }

  /** Has the scope that is open on this thread own {@code handle}; false when there is none. */
  static boolean adopt(NativeHandle handle) {
    ScopeFrame frame = current();
    while (frame != null && !frame.add(handle)) {
      frame = frame.parent;
    }
    return frame != null;
  }

  /** False when it has ended. */
  private synchronized boolean add(NativeHandle handle) {
    if (ended) {
      return false;
    }
    handle.setFrame(this);
    handles.add(handle);
    return true;
  }

  /** Ends the frame; null when it had. */
  private synchronized ArrayList<NativeHandle> end() {
    ArrayList<NativeHandle> owned = handles;
    handles = null;
    ended = true;
    return owned;
  }

  /**
   * Frees what this frame and those opened after it own. Does nothing when it has ended. When its thread has, any other
   * may call it.
   */
  public void exit() {
    if (ended) {
      return;
    }
    Thread thread = stack.thread.get();
    if (thread == Thread.currentThread()) {
      requireOpenHere();
      for (ScopeFrame frame = stack.top; frame != this; frame = frame.parent) {
        frame.free();
      }
      stack.top = parent;
    } else if (thread != null && thread.isAlive()) {
      throw new TandemInvalidArgumentException(
          "Scope.close", "the scope belongs to thread '" + thread.getName() + "', which must close it");
    }
    free();
  }

  private void requireOpenHere() {
    ScopeFrame frame = stack.top;
    while (frame != null && frame != this) {
      frame = frame.parent;
    }
    if (frame == null) {
      throw new TandemInvalidArgumentException(
          "Scope.close", "a callback cannot close the scopes that are open around the call that led to it");
    }
  }

  private void free() {
    ArrayList<NativeHandle> owned = end();
    if (owned == null) {
      return;
    }
    for (NativeHandle handle : owned) {
      if (handle.frame() == this) {
        handle.close();
      }
    }
    if (ofScope != null) {
      ofScope.clean();
    }
  }

  private void abandon(String why) {
    ArrayList<NativeHandle> owned = end();
    if (owned == null) {
      return;
    }
    int left = 0;
    for (NativeHandle handle : owned) {
      if (handle.frame() == this && !handle.isClosed()) {
        handle.setFrame(null);
        left++;
      }
    }
    String where = opened != null ? " at " + opened : TRACED ? "" : " (-Dorg.tandem.traceScopes=true tells where)";
    NativeHandle.report("a Scope that thread '" + stack.name + "' opened" + where + " stayed open: " + why + "; its "
        + left + " tensors are freed when they are no longer reachable");
  }

  /** Lets {@code handle} outlive the scope that owns it. */
  public static void keep(NativeHandle handle) {
    ScopeFrame owner = handle.frame();
    if (owner == null) {
      return;
    }
    ScopeFrame next = owner.parent;
    while (next != null && !next.add(handle)) {
      next = next.parent;
    }
    if (next == null) {
      handle.setFrame(null);
    }
  }

  /** Takes {@code handle} out of all scopes. */
  public static void release(NativeHandle handle) {
    if (handle.frame() != null) {
      handle.setFrame(null);
    }
  }

  /** Runs {@code body} outside every scope: what it makes belongs to the caller. */
  public static <T> T outside(Supplier<T> body) {
    Stack stack = FRAMES.get().stack;
    ScopeFrame frame = stack.top;
    stack.top = null;
    try {
      return body.get();
    } finally {
      stack.top = frame;
    }
  }
}
