package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tandem.dist.CheckpointFolder;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.Store;

class CheckpointFolderTest {
  @TempDir Path folder;

  private static CheckpointFolder.Content content(double value) {
    return new CheckpointFolder.Content()
        .add("model", Map.of("weight", Tensor.of(new double[] {value, value})))
        .values("{\"epoch\": " + (int) value + "}");
  }

  @Test
  void savesAndLoads() throws Exception {
    Path run = folder.resolve("run");
    try (CheckpointFolder checkpoints = new CheckpointFolder(run, 2, null)) {
      assertTrue(checkpoints.load().isEmpty());
      checkpoints.save(1, content(1));
      checkpoints.saveAsync(2, content(2));
      checkpoints.saveAsync(3, content(3));
      checkpoints.await();
      assertFalse(checkpoints.saving());
      assertArrayEquals(new long[] {2, 3}, checkpoints.steps());
      CheckpointFolder.Loaded last = checkpoints.load().orElseThrow();
      assertEquals(3, last.step());
      assertEquals(1, last.worldSize());
      assertEquals("{\"epoch\": 3}", last.values());
      assertEquals(List.of(), last.refused());
      assertArrayEquals(new double[] {3, 3}, last.sections().get("model").get("weight").toDoubleArray());

      Path file = run.resolve("step-000000003/model.safetensors");
      byte[] bytes = Files.readAllBytes(file);
      bytes[bytes.length - 1] ^= 1;
      Files.write(file, bytes);
      CheckpointFolder.Loaded before = checkpoints.load().orElseThrow();
      assertEquals(2, before.step());
      assertTrue(before.refused().get(0).contains("step-000000003"), before.refused().toString());
      assertThrows(TandemDataLossException.class, () -> checkpoints.load(3));
      assertThrows(TandemNotFoundException.class, () -> checkpoints.load(1));
    }
  }

  @Test
  void savesWithAGroup() {
    try (Store store = Store.hash();
        ProcessGroup group = ProcessGroup.init(new ProcessGroup.Options().rank(0).worldSize(1).store(store));
        CheckpointFolder checkpoints = new CheckpointFolder(folder.resolve("run"), 0, group)) {
      checkpoints.saveAsync(7, content(7).addOwn("optimizer", Map.of("0.step", Tensor.of(new double[] {4}))));
      checkpoints.await();
      CheckpointFolder.Loaded last = checkpoints.load().orElseThrow();
      assertEquals(4, last.sections().get("optimizer").get("0.step").item());
    }
    assertTrue(Files.exists(folder.resolve("run/step-000000007/optimizer.rank-0-of-1.safetensors")));
  }

  @Test
  void whatOneRankCannotMakeAllAreTold() throws Exception {
    Path run = folder.resolve("run");
    try (Store store = Store.hash()) {
      IllegalStateException broken = new IllegalStateException("no values");
      Thread[] ranks = new Thread[2];
      Throwable[] wrong = new Throwable[2];
      for (int i = 0; i < ranks.length; i++) {
        int rank = i;
        ranks[i] = new Thread(() -> {
          try (ProcessGroup group = ProcessGroup.init(new ProcessGroup.Options().rank(rank).worldSize(2).store(store));
              CheckpointFolder checkpoints = new CheckpointFolder(run, 0, group)) {
            Supplier<CheckpointFolder.Content> made = () -> {
              if (rank == 1) {
                throw broken;
              }
              return content(1);
            };
            for (boolean beside : new boolean[] {false, true}) {
              RuntimeException thrown = assertThrows(RuntimeException.class, () -> {
                if (beside) {
                  checkpoints.saveAsync(1, made);
                  checkpoints.await();
                } else {
                  checkpoints.save(1, made);
                }
              });
              if (rank == 1) {
                assertSame(broken, thrown);
              } else {
                assertTrue(thrown.getMessage().contains("rank 1: " + broken), thrown.getMessage());
              }
            }
            checkpoints.save(2, () -> content(2));
            assertArrayEquals(new long[] {2}, checkpoints.steps());
          } catch (Throwable failed) {
            wrong[rank] = failed;
          }
        });
        ranks[i].start();
      }
      for (int i = 0; i < ranks.length; i++) {
        ranks[i].join();
        assertNull(wrong[i], () -> "a rank: " + java.util.Arrays.toString(wrong));
      }
    }
  }

  @Test
  void loadsAPart() throws Exception {
    Path run = folder.resolve("run");
    try (CheckpointFolder checkpoints = new CheckpointFolder(run)) {
      Tensor one = Tensor.of(new double[] {1});
      checkpoints.save(1, new CheckpointFolder.Content().add("model", Map.of("encoder.w", one, "decoder.w", one))
          .add("optimizer", Map.of("0.step", one)));
      Files.delete(run.resolve("step-000000001/optimizer.safetensors")); // is not needed
      CheckpointFolder.Loaded part = checkpoints.load(List.of("model"), List.of("encoder.")).orElseThrow();
      assertEquals(java.util.Set.of("model"), part.sections().keySet());
      assertEquals(java.util.Set.of("encoder.w"), part.sections().get("model").keySet());
      assertThrows(TandemDataLossException.class, checkpoints::load);
      assertThrows(IllegalStateException.class, () -> checkpoints.together(() -> {
        throw new IllegalStateException("it does not fit");
      }));
      checkpoints.together(() -> {});
      checkpoints.abort();
      assertThrows(TandemAbortedException.class, () -> checkpoints.saveAsync(2, content(2)));
    }
  }

  @Test
  void mistakesAreExceptions() {
    try (CheckpointFolder checkpoints = new CheckpointFolder(folder.resolve("run"))) {
      TandemInvalidArgumentException section = assertThrows(TandemInvalidArgumentException.class,
          () -> checkpoints.save(1, new CheckpointFolder.Content().add("a/b", Map.of("x", Tensor.of(new double[] {1})))));
      assertTrue(section.getMessage().contains("'a/b'"), section.getMessage());
      assertThrows(TandemInvalidArgumentException.class, () -> checkpoints.save(1, content(1).values("{")));
      checkpoints.close();
      assertThrows(TandemClosedException.class, checkpoints::load);
    }
  }
}
