package org.tandem.data;

import java.nio.file.Path;
import org.tandem.TandemClosedException;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeRecordIOReader;

/** Reads a RecordIO v1 file by index; checksums are verified. May be used from several threads. */
public final class RecordIOReader implements AutoCloseable {
  private final NativeRecordIOReader handle;

  /**
   * @throws org.tandem.TandemNotFoundException there is no such file
   * @throws org.tandem.TandemDataLossException it is no RecordIO file, or a damaged one
   */
  public RecordIOReader(Path path) {
    NativeLibrary.load();
    handle = new NativeRecordIOReader(path.toString());
  }

  private NativeRecordIOReader open() {
    if (handle.isClosed()) {
      throw new TandemClosedException("RecordIOReader", "the reader was closed before this call");
    }
    return handle;
  }

  public long count() {
    return open().count();
  }

  /** A copy of record {@code index}. */
  public byte[] get(long index) {
    return open().get(index);
  }

  @Override
  public void close() {
    handle.close();
  }
}
