package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tandem.data.Field;
import org.tandem.data.Loader;
import org.tandem.data.Mnist;
import org.tandem.data.RecordIOWriter;
import org.tandem.nn.Linear;

class DataTest {
  @TempDir Path folder;

  private Path numbers(int count) {
    Path path = folder.resolve("numbers.recordio");
    try (RecordIOWriter writer = new RecordIOWriter(path, RecordIOWriter.Compressor.SNAPPY, 64)) {
      for (int i = 0; i < count; i++) {
        writer.write(new byte[] {(byte) i, (byte) (2 * i), (byte) (3 * i)});
      }
      writer.finish();
    }
    return path;
  }

  private static final List<Field> FIELDS = List.of(Field.of("label", DType.UINT8, DType.INT64),
      Field.normalized("pair", DType.UINT8, 0.5, 1, 2, 2));

  @Test
  void ranksShareAnEpochAndFieldsAreConverted() {
    Path path = numbers(20);
    TreeSet<Long> seen = new TreeSet<>();
    for (int rank = 0; rank < 2; rank++) {
      try (Loader loader = new Loader(
               List.of(path), FIELDS, new Loader.Options().batchSize(5).rank(rank, 2).seed(1L << 40))) {
        assertEquals(20, loader.sampleCount());
        assertEquals(2, loader.batchCount());
        for (Loader.Batch batch : loader.epoch(0)) {
          try (batch) {
            assertEquals(5, batch.size());
            long[] labels = batch.get(0).toLongArray();
            float[] pairs = batch.get(1).toFloatArray();
            for (int i = 0; i < labels.length; i++) {
              assertTrue(seen.add(labels[i]));
              assertEquals((2 * labels[i] * 0.5f - 1) / 2, pairs[2 * i], 1e-6f);
              assertEquals((3 * labels[i] * 0.5f - 1) / 2, pairs[2 * i + 1], 1e-6f);
            }
          }
        }
      }
    }
    assertEquals(20, seen.size());
  }

  @Test
  void batchesOutliveScopesAroundTheLoop() {
    Path path = numbers(6);
    List<Loader.Batch> batches = new ArrayList<>();
    try (Loader loader = new Loader(List.of(path), FIELDS, new Loader.Options().batchSize(2).shuffle(false))) {
      try (Scope scope = Scope.open()) {
        loader.epoch(0, 1).forEach(batches::add);
      }
    }
    assertEquals(2, batches.size());
    assertArrayEquals(new long[] {2, 3}, batches.get(0).get(0).toLongArray());
    batches.forEach(Loader.Batch::close);
    assertThrows(TandemClosedException.class, () -> batches.get(0).get(0).numel());
  }

  @Test
  void idxFilesWithAWrongMagicAreNamed() throws Exception {
    Path images = folder.resolve("images");
    Files.write(images, new byte[100]);
    Path output = folder.resolve("out.recordio");
    TandemDataLossException error = assertThrows(
        TandemDataLossException.class, () -> Mnist.toRecordIO(images, images, output, 0, -1));
    assertTrue(error.getMessage().contains(images.toString()), error.getMessage());
    assertTrue(Files.notExists(output));
  }

  @Test
  void weightsAreSavedAndLoaded() throws Exception {
    Path path = folder.resolve("weights.safetensors");
    try (Linear a = new Linear(3, 2); Linear b = new Linear(3, 2); Linear other = new Linear(4, 2)) {
      a.save(path);
      b.load(path);
      assertArrayEquals(a.parameters().get(0).toFloatArray(), b.parameters().get(0).toFloatArray());
      assertThrows(TandemInvalidArgumentException.class, () -> other.load(path));
      assertThrows(TandemInvalidArgumentException.class, () -> b.loadStateDict(Map.of()));
    }
    Safetensors.save(path, Map.of("x", Tensor.of(new long[] {1L << 40})), Map.of("a\nb", "c\\d ü"));
    Safetensors file = Safetensors.load(path);
    assertEquals(1L << 40, file.tensors().get("x").itemLong());
    assertEquals("c\\d ü", file.metadata().get("a\nb"));
  }
}
