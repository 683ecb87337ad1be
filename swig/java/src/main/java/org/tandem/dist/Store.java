package org.tandem.dist;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.tandem.TandemClosedException;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeStore;
import org.tandem.internal.Natives;

/** A key-value store through which ranks meet. May be used from several threads. Must be closed. */
public final class Store implements AutoCloseable {
  private static final Duration DEFAULT_TIMEOUT = Duration.ofMinutes(5);

  static {
    Natives.provideStores(Store::nativeHandle);
  }

  private final NativeStore handle;

  private Store(NativeStore handle) {
    this.handle = handle;
  }

  /** The open handle. */
  NativeStore nativeHandle() {
    if (handle.isClosed()) {
      throw new TandemClosedException("Store", "the store was closed before this call");
    }
    return handle;
  }

  /** Listens on {@code host} alone; port 0: any free one, see {@link #port()}. */
  public static Store tcpServer(String host, int port) {
    NativeLibrary.load();
    return new Store(NativeStore.tcp(host, port, true, 0, false, DEFAULT_TIMEOUT.toMillis(), -1));
  }

  /** Connects to a server; {@code timeout} also holds for each get and wait. */
  public static Store tcpClient(String host, int port, Duration timeout) {
    NativeLibrary.load();
    return new Store(NativeStore.tcp(host, port, false, 0, false, timeout.toMillis(), -1));
  }

  /** In a file that all ranks see; removed when the last of {@code worldSize} is done. */
  public static Store file(Path path, int worldSize) {
    NativeLibrary.load();
    return new Store(NativeStore.file(path.toString(), worldSize));
  }

  /** For ranks that are threads of this process. */
  public static Store hash() {
    NativeLibrary.load();
    return new Store(NativeStore.hash());
  }

  /** This store's keys under "prefix/". */
  public Store prefix(String prefix) {
    return new Store(nativeHandle().prefix(prefix));
  }

  /** Of a TCP store, else 0. */
  public int port() {
    return nativeHandle().port();
  }

  public void set(String key, byte[] value) {
    nativeHandle().set(key, value);
  }

  public void set(String key, String value) {
    set(key, value.getBytes(StandardCharsets.UTF_8));
  }

  /** Waits for the key. */
  public byte[] get(String key) {
    return nativeHandle().get(key);
  }

  public String getString(String key) {
    return new String(get(key), StandardCharsets.UTF_8);
  }

  /** Adds to a counter that begins at 0; returns the sum. */
  public long add(String key, long amount) {
    return nativeHandle().add(key, amount);
  }

  /** Whether all the keys exist. */
  public boolean check(String... keys) {
    return nativeHandle().checkKeys(keys);
  }

  public boolean delete(String key) {
    return nativeHandle().remove(key);
  }

  /**
   * Waits until all the keys exist.
   *
   * @throws org.tandem.TandemTimeoutException they do not come to exist in time
   */
  public void waitFor(List<String> keys, Duration timeout) {
    nativeHandle().await(keys.toArray(String[]::new), timeout.toMillis());
  }

  /** Sets the key to {@code desired} when it is {@code expected} ("": absent); returns what it then is. */
  public String compareSet(String key, String expected, String desired) {
    return nativeHandle().compareSet(key, expected, desired);
  }

  public void setTimeout(Duration timeout) {
    nativeHandle().setTimeout(timeout.toMillis());
  }

  @Override
  public void close() {
    handle.close();
  }
}
