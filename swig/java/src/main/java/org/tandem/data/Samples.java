package org.tandem.data;

import org.tandem.Tensor;

/**
 * The program's own samples, by number: see {@link Dataset#of(Samples, String...)}.
 *
 * <pre>{@code
 * class Pictures implements Samples {
 *   public long size() { return files.size(); }
 *   public Tensor[] get(long index) throws IOException {
 *     Path file = files.get((int) index);
 *     return new Tensor[] {pixels(file), Tensor.of(new long[] {label(file)}).squeeze(0)};
 *   }
 * }
 * }</pre>
 */
public interface Samples {
  long size();

  /**
   * The tensors of sample {@code index}: dense ones on the CPU, alike in all samples. A loader's threads call it,
   * several at once, each time in a scope of its own: what it makes is freed when it returns, but what it gives back or
   * took out by {@link org.tandem.Scope#release}. What it throws reaches who asks for the batch, as the cause of an
   * exception that names the sample. {@link org.tandem.TandemIOException}, {@link org.tandem.TandemTimeoutException},
   * the network's exceptions ({@code java.net}), {@link java.nio.file.FileSystemException} itself and
   * {@link java.util.concurrent.TimeoutException} say that the sample cannot be read now: then loaders do what
   * {@link OnIoError} says.
   */
  Tensor[] get(long index) throws Exception;

  /** Tells data sets apart in the states of loaders; 0: by their size alone. */
  default long fingerprint() {
    return 0;
  }
}
