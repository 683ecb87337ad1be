package org.tandem.internal;

import java.util.ArrayList;
import java.util.function.Supplier;

/** The tensors that one thread made between a scope's begin and end. */
public final class ScopeFrame {
  private static final ThreadLocal<ScopeFrame> CURRENT = new ThreadLocal<>();

  private final ScopeFrame parent;
  private final Thread thread = Thread.currentThread();
  private ArrayList<NativeHandle> handles = new ArrayList<>();

  private ScopeFrame(ScopeFrame parent) {
    this.parent = parent;
  }

  static ScopeFrame current() {
    return CURRENT.get();
  }

  public static ScopeFrame enter() {
    ScopeFrame frame = new ScopeFrame(CURRENT.get());
    CURRENT.set(frame);
    return frame;
  }

  void add(NativeHandle handle) {
    handles.add(handle);
  }

  /** Frees what this frame and those opened after it own. Does nothing when it has ended. */
  public void exit() {
    if (handles == null) {
      return;
    }
    if (Thread.currentThread() != thread) {
      throw new org.tandem.TandemInvalidArgumentException(
          "Scope.close", "the scope belongs to thread '" + thread.getName() + "', which must close it");
    }
    ScopeFrame frame = CURRENT.get();
    while (frame != this) {
      frame.free();
      frame = frame.parent;
    }
    free();
    if (parent == null) {
      CURRENT.remove();
    } else {
      CURRENT.set(parent);
    }
  }

  private void free() {
    ArrayList<NativeHandle> owned = handles;
    handles = null;
    for (NativeHandle handle : owned) {
      if (handle.frame() == this) {
        handle.close();
      }
    }
  }

  /** Lets {@code handle} outlive the scope that owns it. */
  public static void keep(NativeHandle handle) {
    ScopeFrame owner = handle.frame();
    if (owner != null) {
      handle.moveTo(owner.parent);
    }
  }

  /** Takes {@code handle} out of all scopes. */
  public static void release(NativeHandle handle) {
    if (handle.frame() != null) {
      handle.moveTo(null);
    }
  }

  /** Runs {@code body} outside every scope: what it makes belongs to the caller. */
  public static <T> T outside(Supplier<T> body) {
    ScopeFrame frame = CURRENT.get();
    CURRENT.remove();
    try {
      return body.get();
    } finally {
      if (frame != null) {
        CURRENT.set(frame);
      }
    }
  }
}
