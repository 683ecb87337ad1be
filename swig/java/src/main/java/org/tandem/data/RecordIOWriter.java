package org.tandem.data;

import java.nio.file.Path;
import org.tandem.TandemClosedException;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeRecordIOWriter;

/**
 * Writes a RecordIO v1 file. The file appears under its name at {@link #finish()}; closed without it, nothing is left.
 */
public final class RecordIOWriter implements AutoCloseable {
  /** Of chunks. */
  public enum Compressor {
    NONE(0),
    SNAPPY(1),
    GZIP(2);

    private final int number;

    Compressor(int number) {
      this.number = number;
    }

    /** In the C ABI. */
    int number() {
      return number;
    }
  }

  private static final long DEFAULT_CHUNK_BYTES = 32L << 20;

  private final NativeRecordIOWriter handle;

  public RecordIOWriter(Path path) {
    this(path, Compressor.NONE, DEFAULT_CHUNK_BYTES);
  }

  /** {@code chunkBytes}: of payload before compression. */
  public RecordIOWriter(Path path, Compressor compressor, long chunkBytes) {
    NativeLibrary.load();
    handle = new NativeRecordIOWriter(path.toString(), compressor.number(), chunkBytes);
  }

  private NativeRecordIOWriter open() {
    if (handle.isClosed()) {
      throw new TandemClosedException("RecordIOWriter", "the writer was closed before this call");
    }
    return handle;
  }

  public void write(byte[] record) {
    open().write(record);
  }

  /** Syncs the file and gives it its name. */
  public void finish() {
    open().finish();
  }

  @Override
  public void close() {
    handle.close();
  }
}
