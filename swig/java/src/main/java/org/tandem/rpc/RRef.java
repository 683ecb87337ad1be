package org.tandem.rpc;

import org.tandem.TandemClosedException;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeResults;
import org.tandem.internal.NativeRref;
import org.tandem.internal.Natives;
import org.tandem.internal.TandemNative;
import org.tandem.internal.Values;

/**
 * A reference to a value that stays on the worker where it was made, its owner, and lives there as long as anyone has a
 * reference. As an argument, a result or a part of one it gives whoever gets it a reference too. It is given up by close, or when
 * nothing leads to it any more. Source: torch.distributed.rpc.RRef.
 */
public final class RRef implements AutoCloseable {
  static {
    Natives.provideRrefs(RRef::nativeHandle, RRef::new);
  }

  private final NativeRref handle;

  private RRef(NativeRref handle) {
    this.handle = handle;
  }

  /** To a value of this worker's: a tensor itself, not a copy. */
  public static RRef of(Object value) {
    NativeLibrary.load();
    return Rpc.given("RRef.of", new Object[] {value}, natives -> new RRef(TandemNative.rrefCreate(natives)));
  }

  private NativeRref nativeHandle() {
    if (handle.isClosed()) {
      throw new TandemClosedException("RRef", "the reference was closed before this use");
    }
    return handle;
  }

  public Rpc.Worker owner() { return Rpc.workers().get(nativeHandle().owner()); }

  public boolean isOwner() { return nativeHandle().isOwner(); }

  /** Whether the owner knows of this reference. */
  public boolean isConfirmedByOwner() { return nativeHandle().confirmedByOwner(); }

  /** A copy of the value, on its owner the value itself. Blocks. Throws what {@link Rpc#call} throws. */
  public Object toHere() {
    try (NativeResults result = TandemNative.rrefToHere(nativeHandle(), 0, Rpc.context())) {
      return Values.takeCall("RRef.toHere", result).get(0);
    }
  }

  /**
   * On its owner the value itself; waits where it is still computed.
   *
   * @throws org.tandem.TandemInvalidArgumentException this worker is not the owner
   */
  public Object localValue() {
    try (NativeResults result = TandemNative.rrefLocalValue(nativeHandle(), 0)) {
      return Values.takeCall("RRef.localValue", result).get(0);
    }
  }

  /** A second call does nothing. */
  @Override
  public void close() {
    handle.close();
  }
}
