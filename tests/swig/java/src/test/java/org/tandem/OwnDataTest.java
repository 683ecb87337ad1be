package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tandem.OwnSamples.Counting;
import org.tandem.OwnSamples.Squares;
import org.tandem.data.Dataset;
import org.tandem.data.DynamicLoader;
import org.tandem.data.Field;
import org.tandem.data.FileOptions;
import org.tandem.data.Loader;
import org.tandem.data.SampleStream;
import org.tandem.data.Samples;
import org.tandem.data.SchemaOptions;
import org.tandem.data.Tail;
import org.tandem.dist.Store;

/** Data sets of Java's own, and those made of others, through loaders. */
@Timeout(120)
class OwnDataTest {
  private static final int COUNT = 23;
  private static final int BATCH = 4;

  private static Loader.Options options() {
    return new Loader.Options().batchSize(BATCH).globalBatch(true).tail(Tail.SHORT).seed(5);
  }

  private static List<Loader> world(Dataset dataset, int size, int threads, byte[] state) {
    List<Loader> loaders = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      Loader loader = new Loader(dataset, options().rank(rank, size).threads(threads));
      if (state != null) {
        loader.restore(state);
      }
      loaders.add(loader);
    }
    return loaders;
  }

  /** The global batches that are left of an epoch: slices of the ranks, one after the other. */
  private static List<List<Long>> global(List<Loader> loaders, long epoch) {
    List<List<Long>> steps = new ArrayList<>();
    for (Loader loader : loaders) {
      List<List<Long>> own = OwnSamples.epoch(loader, epoch);
      for (int step = 0; step < own.size(); step++) {
        if (step == steps.size()) {
          steps.add(new ArrayList<>());
        }
        steps.get(step).addAll(own.get(step));
      }
    }
    return steps;
  }

  private static Map<String, Dataset> kinds() {
    Map<String, Dataset> kinds = new LinkedHashMap<>();
    kinds.put("samples", OwnSamples.squares(COUNT));
    kinds.put("map", OwnSamples.squares(COUNT).map(sample -> new Tensor[] {sample[0]}, "i"));
    kinds.put("stream", Dataset.of(new Counting(COUNT), "i"));
    return kinds;
  }

  /** Every sample once an epoch, in the same global batches on any number of ranks and threads. */
  @Test
  void ledger() {
    kinds().forEach((name, dataset) -> {
      for (long epoch = 0; epoch < 3; epoch++) {
        List<List<Long>> expected = null;
        for (int size = 1; size <= 3; size++) {
          for (int threads = 0; threads <= 2; threads++) {
            List<Loader> loaders = world(dataset, size, threads, null);
            List<List<Long>> steps = global(loaders, epoch);
            loaders.forEach(Loader::close);
            String where = name + ", epoch " + epoch + ", " + size + " ranks, " + threads + " threads";
            long first = name.equals("stream") ? 1000 * epoch + 5 : 0;
            assertEquals(OwnSamples.range(first, first + COUNT), OwnSamples.sorted(OwnSamples.flat(steps)), where);
            expected = expected == null ? steps : expected;
            assertEquals(expected, steps, where);
          }
        }
      }
      dataset.close();
    });
  }

  @Test
  void resumesInTheMiddleOnAnotherNumberOfRanks() {
    kinds().forEach((name, dataset) -> {
      List<Loader> whole = world(dataset, 1, 1, null);
      List<List<Long>> expected = global(whole, 0);
      whole.forEach(Loader::close);
      for (int stop = 1; stop < expected.size(); stop++) {
        byte[] state = null;
        try (Loader loader = new Loader(dataset, options().threads(2))) {
          int step = 0;
          for (Loader.Batch batch : loader.epoch(loader.currentEpoch())) {
            batch.close();
            if (++step == stop) {
              loader.commit();
              state = loader.state();
              break;
            }
          }
        }
        assertTrue(state.length < 256, state.length + " bytes of state");
        for (int size = 1; size <= 3; size++) {
          List<Loader> loaders = world(dataset, size, 1, state);
          assertEquals(0, loaders.get(0).currentEpoch());
          assertEquals(expected.subList(stop, expected.size()), global(loaders, 0),
              name + " after " + stop + " steps on " + size + " ranks");
          loaders.forEach(Loader::close);
        }
      }
      dataset.close();
    });
    try (Dataset other = OwnSamples.squares(COUNT + 1);
        Dataset dataset = OwnSamples.squares(COUNT);
        Loader of = new Loader(dataset, options());
        Loader loader = new Loader(other, options())) {
      assertThrows(TandemInvalidArgumentException.class, () -> loader.restore(of.state()));
      assertThrows(TandemDataLossException.class, () -> loader.restore(new byte[] {1, 2, 3}));
    }
  }

  @Test
  void batchesHaveWhatTheProgramGave() {
    Squares own = new Squares(10);
    Dataset dataset = Dataset.of(own, "i", "square");
    assertEquals(10, dataset.size());
    assertEquals(List.of("i", "square"), dataset.fieldNames());
    try (Loader loader = new Loader(dataset, options().tail(Tail.PAD).shuffle(false).threads(2).prefetch(3))) {
      dataset.close(); // which the loader does not need
      assertEquals(10, loader.sampleCount());
      assertEquals(3, loader.batchCount());
      long first = 0;
      for (Loader.Batch batch : loader.epoch(0)) {
        try (batch; Scope scope = Scope.open()) {
          assertEquals(4, batch.size());
          assertEquals(first == 8 ? 2 : 4, batch.localCount());
          assertEquals(batch.localCount(), batch.globalCount());
          float[] squares = batch.get("square").toFloatArray();
          boolean[] mask = new boolean[4];
          byte[] bytes = batch.mask().toByteArray();
          for (int row = 0; row < 4; row++) {
            mask[row] = bytes[row] != 0;
            long i = first + row < 10 ? first + row : 0;
            assertEquals(i, batch.get("i").select(0, row).itemLong());
            assertEquals(i * i, squares[2 * row + 1]);
            assertEquals(first + row < 10, mask[row]);
          }
          assertEquals(first, batch.samples()[0]);
          assertThrows(TandemNotFoundException.class, () -> batch.get("cube"));
          first += 4;
        }
      }
      assertEquals(10, own.asked.get());
      assertTrue(loader.statistics().contains("3 batches"), loader.statistics());
    }
    assertThrows(TandemClosedException.class, () -> new Loader(dataset, options()));
    try (Dataset counted = Dataset.of(own)) {
      assertEquals(List.of("0", "1"), counted.fieldNames());
      assertArrayEquals(new float[] {3, 9}, counted.get(3)[1].toFloatArray());
      assertThrows(TandemOutOfRangeException.class, () -> counted.get(10));
    }
  }

  @Test
  void transformsRunOnBatches() {
    try (Dataset dataset = OwnSamples.squares(6);
        Loader loader = new Loader(dataset, options().shuffle(false))) {
      loader.addTransforms("[{\"step\": \"one_hot\", \"fields\": [\"i\"], \"classes\": 6}]");
      try (Loader.Batch batch = loader.epoch(0).iterator().next()) {
        assertArrayEquals(new long[] {4, 6}, batch.get("i").sizes());
      }
      assertThrows(TandemInvalidArgumentException.class, () -> loader.addTransforms("[]"));
    }
  }

  @Test
  void setsMadeOfOthers() {
    Dataset squares = OwnSamples.squares(20).map(sample -> new Tensor[] {sample[0].mul(10).to(DType.INT64)}, "i");
    Dataset hundreds = Dataset.ofTensors(List.of(Tensor.of(new long[] {1000, 1001})), "i");
    Dataset both = Dataset.concat(squares, hundreds, squares);
    assertEquals(42, both.size());
    Dataset some = both.subset(21, 4, 4, 41);
    try (Loader loader = new Loader(some, options().shuffle(false))) {
      assertEquals(List.of(List.of(1001L, 40L, 40L, 190L)), OwnSamples.epoch(loader, 0));
    }
    List<Dataset> parts = squares.randomSplit(new double[] {0.7, 0.3}, 1);
    assertEquals(List.of(14L, 6L), parts.stream().map(Dataset::size).toList());
    List<Long> all = new ArrayList<>();
    for (Dataset part : parts) {
      try (Loader loader = new Loader(part, options())) {
        all.addAll(OwnSamples.flat(OwnSamples.epoch(loader, 0)));
      }
    }
    assertEquals(OwnSamples.range(0, 20).stream().map(i -> 10 * i).toList(), OwnSamples.sorted(all));
    assertThrows(TandemOutOfRangeException.class, () -> squares.subset(20));
    assertThrows(TandemInvalidArgumentException.class, () -> squares.randomSplit(new long[] {1, 2}, 0));
    assertThrows(TandemInvalidArgumentException.class, () -> Dataset.concat(squares, OwnSamples.squares(1)));
    assertThrows(TandemInvalidArgumentException.class,
        () -> Dataset.ofTensors(List.of(Tensor.of(new long[] {1})), "a", "b"));
  }

  @Test
  void samplesThatComeOneAfterTheOther() {
    Counting source = new Counting(11);
    Dataset dataset = Dataset.of(source, "i");
    assertEquals(-1, dataset.size());
    for (int threads = 0; threads <= 2; threads++) {
      try (Loader loader = new Loader(dataset, options().threads(threads))) {
        assertEquals(-1, loader.batchCount());
        assertEquals(-1, loader.sampleCount());
        assertEquals(OwnSamples.range(1005, 1016), OwnSamples.flat(OwnSamples.epoch(loader, 1)));
      }
    }
    assertTrue(source.opened.get() >= 3);
    assertEquals(source.opened.get(), source.closed.get());

    source.failure = new IOException("the line is dead");
    try (Loader loader = new Loader(dataset, options())) {
      TandemException error = assertThrows(TandemException.class, () -> OwnSamples.epoch(loader, 0));
      assertTrue(error.getMessage().contains("sample 7 of the stream of epoch 0"), error.getMessage());
      assertSame(source.failure, error.getCause());
    }
    assertThrows(TandemUnsupportedException.class, () -> dataset.subset(1));
    assertThrows(TandemInvalidArgumentException.class, () -> new Loader(dataset, options().shuffle(true)));
    assertThrows(TandemInvalidArgumentException.class, () -> Dataset.of(source));
  }

  @Test
  void streamsThatSkipOnTheirOwn() {
    AtomicInteger skipped = new AtomicInteger();
    class Skipping extends Counting {
      Skipping() {
        super(40);
      }

      @Override
      public SampleStream open(long seed, long epoch) {
        return new SampleStream() {
          private long at;

          @Override
          public Tensor[] next() {
            return at == 40 ? null : new Tensor[] {Tensor.full(at++, DType.INT64)};
          }

          @Override
          public long skip(long count) {
            long before = at;
            at = Math.min(40, at + count);
            skipped.addAndGet((int) (at - before));
            return at - before;
          }
        };
      }
    }
    try (Dataset dataset = Dataset.of(new Skipping(), "i");
        Loader loader = new Loader(dataset, options().rank(1, 2).threads(1))) {
      assertEquals(20, OwnSamples.flat(OwnSamples.epoch(loader, 0)).size());
      assertTrue(skipped.get() >= 20, skipped + " were skipped");
    }
  }

  /** Sample 5 fails. */
  @Test
  void whatGetThrowsReachesWhoAsksForTheBatch() {
    for (Throwable failure : List.of(new IOException("the disk is gone"), new IllegalStateException("ü 日本"),
             new AssertionError("no"), new TandemNotFoundException("read", "nothing there"))) {
      try (Dataset dataset = Dataset.of(OwnSamples.broken(failure), "i", "square");
           Dataset some = dataset.subset(9, 5)) {
        for (int threads = 0; threads <= 3; threads++) {
          try (Loader loader = new Loader(some, options().threads(threads))) {
            TandemException error = assertThrows(TandemException.class, () -> OwnSamples.epoch(loader, 0));
            assertEquals(ErrorCode.CALLBACK, error.code());
            assertTrue(error.getMessage().contains("cannot load sample 5: "), error.getMessage());
            assertTrue(error.getMessage().contains(failure.toString()), error.getMessage());
            assertSame(failure, error.getCause());
          }
        }
        assertSame(failure, assertThrows(TandemException.class, () -> dataset.get(5)).getCause());
        assertEquals(4, dataset.get(4)[0].itemLong());
      }
    }
    TandemException error = assertThrows(TandemException.class, () -> Dataset.of(new Squares(3) {
      @Override
      public Tensor[] get(long index) throws Exception {
        throw new IOException("nothing to count");
      }
    }));
    assertTrue(error.getMessage().contains("sample 0") && error.getCause() instanceof IOException, error.getMessage());
  }

  private static String messageOf(Samples samples) {
    try (Dataset dataset = Dataset.of(samples, "i", "square")) {
      return assertThrows(TandemException.class, () -> dataset.get(0)).getMessage();
    }
  }

  /** A device that is not there is refused when the loader is made, and never another one taken in its place. */
  @Test
  void devicesThatAreNotThere() {
    try (Dataset dataset = OwnSamples.squares(5); Store store = Store.hash()) {
      for (Device device : List.of(Device.cuda(Tandem.cudaDeviceCount()), new Device(Device.Type.META, -1))) {
        for (TandemException error : List.of(
            assertThrows(TandemException.class, () -> new Loader(dataset, options().device(device))),
            assertThrows(TandemException.class, () -> DynamicLoader.join(
                dataset, store, new DynamicLoader.Options().batchSize(2).device(device))))) {
          assertTrue(error.getMessage().contains("device"), error.getMessage());
        }
      }
      try (Loader loader = new Loader(dataset, options().device(Device.CPU).shuffle(false))) {
        assertEquals(OwnSamples.range(0, 5), OwnSamples.flat(OwnSamples.epoch(loader, 0)));
      }
    }
  }

  @Test
  void samplesThatAreNone() {
    interface Get {
      Tensor[] get();
    }
    record Given(Get body) implements Samples {
      @Override
      public long size() {
        return 1;
      }

      @Override
      public Tensor[] get(long index) {
        return body.get();
      }
    }
    String one = messageOf(new Given(() -> new Tensor[] {Tensor.scalar(1)}));
    assertTrue(one.contains("it gave 1 tensors, but the data set has names for 2"), one);
    String none = messageOf(new Given(() -> null));
    assertTrue(none.contains("it gave 0 tensors"), none);
    String missing = messageOf(new Given(() -> new Tensor[] {Tensor.scalar(1), null}));
    assertTrue(missing.contains("no tensor 1"), missing);
    String closed = messageOf(new Given(() -> {
      Tensor tensor = Tensor.scalar(1);
      tensor.close();
      return new Tensor[] {Tensor.scalar(1), tensor};
    }));
    assertTrue(closed.contains("TandemClosedException"), closed);
    try (Dataset dataset = OwnSamples.squares(3); Dataset mapped = dataset.map(sample -> null)) {
      assertEquals(ErrorCode.CALLBACK, assertThrows(TandemException.class, () -> mapped.get(0)).code());
    }
    long before = Tandem.liveCount("dataset");
    assertThrows(TandemInvalidArgumentException.class, () -> Dataset.of(new Squares(1), "a\0b"));
    assertThrows(TandemInvalidArgumentException.class, () -> Dataset.of(new Squares(-1), "i", "square"));
    assertEquals(before, Tandem.liveCount("dataset"));
  }

  /** The same tensor twice, one that the program keeps, and inputs of a map as they are. */
  @Test
  void tensorsMayBeSharedKeptAndPassedOn() {
    Map<Long, Tensor> cache = new ConcurrentHashMap<>();
    Samples samples = new Squares(6) {
      @Override
      public Tensor[] get(long index) {
        asked.incrementAndGet();
        Tensor kept = cache.computeIfAbsent(index, i -> Scope.release(Tensor.full(i, DType.INT64)));
        Tensor made = kept.add(kept);
        return new Tensor[] {kept, made, made};
      }
    };
    try (Dataset dataset = Dataset.of(samples, "a", "b", "c");
        Dataset turned = dataset.map(sample -> new Tensor[] {sample[2], sample[0], sample[0]});
        Loader loader = new Loader(turned, options().shuffle(false).threads(2))) {
      for (int epoch = 0; epoch < 3; epoch++) {
        assertEquals(List.of(0L, 2L, 4L, 6L, 8L, 10L), OwnSamples.flat(OwnSamples.epoch(loader, epoch)));
      }
    }
    assertEquals(6, cache.size());
    cache.forEach((index, tensor) -> {
      assertEquals(index, tensor.itemLong());
      tensor.close();
    });
  }

  /** docs/java.md shows it. */
  private static final class Pictures implements Samples {
    private final List<Path> files;

    Pictures(List<Path> files) {
      this.files = files;
    }

    @Override
    public long size() {
      return files.size();
    }

    @Override
    public Tensor[] get(long index) throws IOException {
      byte[] file = Files.readAllBytes(files.get((int) index));
      Tensor pixels = Tensor.of(ByteBuffer.wrap(file, 1, file.length - 1), DType.UINT8, 1, 28, 28);
      return new Tensor[] {Tensor.full(file[0], DType.INT64), pixels.to(DType.FLOAT32).div(255)};
    }
  }

  @Test
  void theExampleOfTheDocumentation(@TempDir Path folder) throws Exception {
    List<Path> files = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      byte[] bytes = new byte[785];
      bytes[0] = (byte) (i % 10);
      bytes[784] = (byte) 255;
      files.add(Files.write(folder.resolve("picture" + i), bytes));
    }
    int epochs = 2;
    List<Long> labels = new ArrayList<>();
    try (Dataset all = Dataset.of(new Pictures(files), "label", "image")) {
      List<Dataset> parts = all.randomSplit(new double[] {0.9, 0.1}, 1);
      Dataset train = parts.get(0).map(sample -> new Tensor[] {sample[0], sample[1].sub(0.5)});
      try (Loader loader = new Loader(train, new Loader.Options().batchSize(6).threads(4))) {
        for (long epoch = loader.currentEpoch(); epoch < epochs; epoch++) {
          for (Loader.Batch batch : loader.epoch(epoch)) {
            try (batch; Scope scope = Scope.open()) {
              labels.addAll(Arrays.stream(batch.get("label").toLongArray()).boxed().toList());
              assertEquals(0.5 * 6 - 0.5 * 783 * 6, batch.get("image").sum().item(), 1e-2);
            }
          }
        }
      }
    }
    assertEquals(2 * 18, labels.size());
  }

  @Test
  void recordsOfFiles(@TempDir Path folder) throws Exception {
    Path path = folder.resolve("letters.txt");
    Files.writeString(path, "header\nab\ncd\n");
    FileOptions lines = new FileOptions().format("lines").skip(1);
    try (Dataset records = Dataset.ofRecords(new String[] {path.toString()},
             List.of(Field.of("letters", DType.UINT8, DType.INT64, 2)), lines);
        Dataset schema = Dataset.ofSchema(new String[] {path.toString()}, new SchemaOptions().schema(
            "{\"fields\": [{\"name\": \"letters\", \"dtype\": \"uint8\", \"shape\": [2]}]}"), lines)) {
      assertEquals(2, records.size());
      assertArrayEquals(new long[] {'c', 'd'}, records.get(1)[0].toLongArray());
      assertEquals(List.of("letters"), schema.fieldNames());
      assertArrayEquals(new byte[] {'a', 'b'}, schema.get(0)[0].toByteArray());
      try (Dataset upper = schema.map(sample -> new Tensor[] {sample[0].sub(32).to(DType.INT64)});
          Loader loader = new Loader(upper, options().shuffle(false))) {
        assertEquals(List.of((long) 'A', (long) 'B'), firstRow(loader));
      }
    }
    assertThrows(TandemNotFoundException.class,
        () -> Dataset.ofRecords(List.of(folder.resolve("none")), List.of(Field.of("x", DType.UINT8, DType.UINT8))));
  }

  private static List<Long> firstRow(Loader loader) {
    try (Loader.Batch batch = loader.epoch(0).iterator().next()) {
      return Arrays.stream(batch.get(0).select(0, 0).toLongArray()).boxed().toList();
    }
  }
}
