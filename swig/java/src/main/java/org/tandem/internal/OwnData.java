package org.tandem.internal;

import java.lang.System.Logger.Level;
import org.tandem.data.IterableSamples;
import org.tandem.data.SampleMap;
import org.tandem.data.SampleStream;
import org.tandem.data.Samples;

/** Data sets of the program's own samples. Native code holds the program's objects for as long as it may call them. */
public final class OwnData {
  private OwnData() {}

  public static NativeDataset of(Samples samples, String[] names) {
    long size = samples.size();
    long fingerprint = samples.fingerprint();
    NativeSampleSource source = new NativeSampleSource() {
      @Override
      public long[] get(long index) {
        return Upcall.sample(() -> samples.get(index));
      }
    };
    try {
      return TandemNative.datasetOfSamples(names, size, fingerprint, source);
    } catch (RuntimeException failed) {
      source.delete(); // unless native code had it already
      throw failed;
    }
  }

  public static NativeDataset of(IterableSamples samples, String[] names) {
    long size = samples.size();
    long fingerprint = samples.fingerprint();
    NativeStreamSource source = new NativeStreamSource() {
      @Override
      public NativeOpenStream open(long seed, long epoch) {
        SampleStream opened = Upcall.run(() -> samples.open(seed, epoch));
        return opened == null ? null : new Stream(opened);
      }
    };
    try {
      return TandemNative.datasetOfStreams(names, size, fingerprint, source);
    } catch (RuntimeException failed) {
      source.delete();
      throw failed;
    }
  }

  public static NativeDataset map(NativeDataset base, SampleMap map, String[] names) {
    NativeSampleMapper mapper = new NativeSampleMapper() {
      @Override
      public long[] map(long[] sample) {
        return Upcall.sample(() -> map.map(Upcall.received(sample)));
      }
    };
    try {
      return TandemNative.mappedDataset(base, names, mapper);
    } catch (RuntimeException failed) {
      mapper.delete();
      throw failed;
    }
  }

  private static final class Stream extends NativeOpenStream {
    private final SampleStream opened;

    Stream(SampleStream opened) {
      this.opened = opened;
    }

    @Override
    public long[] next() {
      long[] sample = Upcall.sample(opened::next);
      if (sample != null && sample.length == 0) {
        throw new IllegalStateException("next() gave a sample without tensors; null is the end");
      }
      return sample;
    }

    @Override
    public long skip(long count) {
      return Upcall.run(() -> opened.skip(count));
    }

    @Override
    public void close() {
      try {
        Upcall.run(() -> {
          opened.close();
          return null;
        });
      } catch (Exception failed) { // which no caller is there for
        System.getLogger("org.tandem").log(Level.WARNING, "a stream's close() failed", failed);
      }
    }
  }
}
