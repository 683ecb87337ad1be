package org.tandem.data;

import java.time.Duration;
import org.tandem.internal.NativeFileOptions;

/** How files of records are opened. */
public final class FileOptions {
  private String format = "";
  private long skip;
  private long memoryBytes = 256L << 20;
  private boolean useIndex = true;
  private int attempts = 6;
  private Duration connectTimeout = Duration.ofSeconds(15);
  private Duration stallTimeout = Duration.ofSeconds(30);
  private long leastSpeed = 1024;
  private Duration requestTimeout = Duration.ofMinutes(10);
  private long mostChunkBytes = 1L << 30;
  private String cacheFolder = "";
  private long cacheBytes = -1;
  private String s3Endpoint = "";
  private String s3Region = "";

  /** "recordio", "tfrecord" and so on; "": what each file's first bytes say. */
  public FileOptions format(String value) {
    format = value;
    return this;
  }

  /** Records to leave out at the beginning of each file: a CSV file's header. */
  public FileOptions skip(long value) {
    skip = value;
    return this;
  }

  /** Of decompressed and of fetched chunks, of all files together. */
  public FileOptions memoryBytes(long value) {
    memoryBytes = value;
    return this;
  }

  /** Whether FILE.idx beside files of RecordIO v1 is read, and written where that saves time. */
  public FileOptions useIndex(boolean value) {
    useIndex = value;
    return this;
  }

  /** For URLs: how often a request is made before its failure is an error. */
  public FileOptions attempts(int value) {
    attempts = value;
    return this;
  }

  /** For URLs: for the connection of one attempt, and how long a reply may stand still. */
  public FileOptions timeouts(Duration connect, Duration stall) {
    connectTimeout = connect;
    stallTimeout = stall;
    return this;
  }

  /** For URLs: bytes a second, slower than which a reply stands still, and for a request with all its attempts. */
  public FileOptions limits(long least, Duration request) {
    leastSpeed = least;
    requestTimeout = request;
    return this;
  }

  /** Memory that a compressed chunk of RecordIO may take once it is decompressed. */
  public FileOptions mostChunkBytes(long value) {
    mostChunkBytes = value;
    return this;
  }

  /** For URLs: where what was fetched is kept for later runs ("": as the environment says), and how much of it, about. */
  public FileOptions cache(String folder, long bytes) {
    cacheFolder = folder;
    cacheBytes = bytes;
    return this;
  }

  /** Of services like S3's, "http://minio:9000"; "": as the environment says. */
  public FileOptions s3(String endpoint, String region) {
    s3Endpoint = endpoint;
    s3Region = region;
    return this;
  }

  NativeFileOptions toNative() {
    NativeFileOptions natives = new NativeFileOptions();
    natives.setFormat(format);
    natives.setSkip(skip);
    natives.setMemoryBytes(memoryBytes);
    natives.setUseIndex(useIndex);
    natives.setAttempts(attempts);
    natives.setConnectTimeoutMs(connectTimeout.toMillis());
    natives.setStallTimeoutMs(stallTimeout.toMillis());
    natives.setLeastSpeed(leastSpeed);
    natives.setRequestTimeoutMs(requestTimeout.toMillis());
    natives.setMostChunkBytes(mostChunkBytes);
    natives.setCacheFolder(cacheFolder);
    natives.setCacheBytes(cacheBytes);
    natives.setS3Endpoint(s3Endpoint);
    natives.setS3Region(s3Region);
    return natives;
  }
}
