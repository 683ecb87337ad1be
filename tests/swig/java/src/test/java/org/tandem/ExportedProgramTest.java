package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tandem.dist.DistributedDataParallel;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.Store;
import org.tandem.nn.ExportedProgram;
import org.tandem.nn.Functional;
import org.tandem.optim.SGD;

/** Programs of torch.export; the archives are those of tests/cpp/exported/models.py. */
@Timeout(300)
class ExportedProgramTest {
  @TempDir
  Path folder;

  private static Path file(String name) {
    return Path.of(System.getProperty("tandem.source"), "tests", "cpp", "exported", "files", name + ".pt2");
  }

  /** That of models.py. */
  private static Tensor pattern(long seed, long... shape) {
    int count = 1;
    for (long size : shape) {
      count *= (int) size;
    }
    double[] numbers = new double[count];
    for (int i = 0; i < count; ++i) {
      numbers[i] = (i * 2654435761L + seed * 40503 + 12345) % (1L << 32) / 4294967296.0 - 0.5;
    }
    return Tensor.of(numbers, shape);
  }

  private static boolean same(Tensor first, Tensor second) {
    return first.sub(second).abs().max().item() == 0;
  }

  @Test
  void programsTrainUnderDistributedDataParallelAndAreSaved() throws Exception {
    Path saved = folder.resolve("mlp.pt2");
    List<Throwable> failures = new ArrayList<>();
    double[][] losses = new double[2][4];
    Thread[] ranks = new Thread[2];
    for (int rank = 0; rank < 2; ++rank) {
      int own = rank;
      ranks[rank] = new Thread(() -> {
        try {
          train(folder.resolve("meeting"), own, losses[own], saved);
        } catch (Throwable failure) {
          synchronized (failures) {
            failures.add(failure);
          }
        }
      });
      ranks[rank].start();
    }
    for (Thread rank : ranks) {
      rank.join();
    }
    assertEquals(List.of(), failures);
    assertTrue(losses[0][3] < losses[0][0] && losses[1][3] < losses[1][0]);
    try (Scope scope = Scope.open(); ExportedProgram before = ExportedProgram.loadProgram(file("mlp"));
         ExportedProgram after = ExportedProgram.loadProgram(saved)) {
      Tensor x = pattern(1, 4, 6);
      assertFalse(same(before.forward(x), after.forward(x)));
      assertEquals(before.stateDict().keySet(), after.stateDict().keySet());
    }
  }

  private static void train(Path meeting, int rank, double[] losses, Path saved) {
    try (Store store = Store.file(meeting, 2);
         ProcessGroup group = ProcessGroup.init(
             new ProcessGroup.Options().store(store).rank(rank).worldSize(2).timeout(Duration.ofSeconds(20)));
         ExportedProgram program = ExportedProgram.loadProgram(file("mlp"));
         DistributedDataParallel ddp = new DistributedDataParallel(program, group);
         SGD sgd = new SGD(program.parameters(), 0.1)) {
      for (int step = 0; step < losses.length; ++step) {
        try (Scope scope = Scope.open()) {
          Tensor loss = Functional.mseLoss(ddp.forward(pattern(rank, 4, 6)), pattern(9, 4, 3));
          sgd.zeroGrad();
          loss.backward();
          sgd.step();
          losses[step] = loss.item();
        }
      }
      if (rank == 0) {
        program.saveProgram(saved);
      }
    }
  }

  @Test
  void valuesNest() {
    try (Scope scope = Scope.open(); ExportedProgram program = ExportedProgram.loadProgram(file("regions"))) {
      assertArrayEquals(new String[] {"x", "count", "name", "options_weights_0", "options_factor"},
          program.inputs().keySet().toArray());
      assertEquals("Double[3, 3]", program.inputs().get("options_weights_0"));
      Map<String, Object> options = Map.of("weights", Tuple.of(pattern(4, 3, 3)), "factor", pattern(5, 1));
      Tuple result = (Tuple) program.call(pattern(1, 4, 3), 3, "sum", options);
      assertEquals(5L, result.elements().get(2));
      assertNull(result.elements().get(3));
      assertArrayEquals(new long[] {4, 2}, ((Tensor) result.elements().get(4)).sizes());
      assertTrue(((Map<?, ?>) result.elements().get(0)).containsKey("first"));
      TandemInvalidArgumentException wrong = assertThrows(TandemInvalidArgumentException.class,
          () -> program.call(pattern(1, 4, 3), 4, "sum", options));
      assertTrue(wrong.getMessage().contains("count must be 3"), wrong.getMessage());
    }
  }

  @Test
  void tiedParametersAreOne() {
    try (ExportedProgram program = ExportedProgram.loadProgram(file("decoder"))) {
      Map<String, Tensor> state = program.stateDict();
      assertSame(state.get("lm_head.weight"), state.get("model.embed_tokens.weight"));
      assertEquals(state.size() - 1, program.parameters().size());
    }
  }

  @Test
  void modesChangeBetweenTwoArchives() {
    ExportedProgram.Options modes = new ExportedProgram.Options().otherMode(file("cnn_eval"));
    try (Scope scope = Scope.open(); ExportedProgram program = ExportedProgram.loadProgram(file("cnn"), modes);
         ExportedProgram one = ExportedProgram.loadProgram(file("cnn_eval"))) {
      Tensor x = pattern(1, 4, 1, 8, 8);
      assertTrue(program.isTraining());
      program.eval();
      assertTrue(same(program.forward(x), one.forward(x)));
      program.train();
      assertFalse(same(program.forward(x), one.forward(x)));
      assertFalse(one.isTraining());
      TandemUnsupportedException none = assertThrows(TandemUnsupportedException.class, one::train);
      assertTrue(none.getMessage().contains("has no training mode"), none.getMessage());
    }
  }

  /** What the build makes of tests/cpp/exported/compiled_mlp.cpp, whose results lie column by column. */
  @Test
  void compiledCodeRunsWithoutGradients() {
    Path compiled = Path.of(System.getProperty("tandem.bin")).resolveSibling("tests").resolve("compiled_mlp.pt2");
    ExportedProgram.Options options = new ExportedProgram.Options().compiled(compiled);
    try (Scope scope = Scope.open(); ExportedProgram program = ExportedProgram.loadProgram(file("mlp_eval"), options)) {
      Tensor x = pattern(1, 4, 6);
      Tensor graph = program.forward(x);
      assertArrayEquals(new long[] {3, 1}, graph.strides());
      try (Tandem.NoGrad mode = Tandem.noGrad()) {
        Tensor y = program.forward(x);
        assertArrayEquals(new long[] {1, 4}, y.strides());
        assertEquals(0, y.sub(graph).abs().max().item(), 1e-12);
      }
    }
    TandemInvalidArgumentException other = assertThrows(
        TandemInvalidArgumentException.class, () -> ExportedProgram.loadProgram(file("cnn_eval"), options));
    assertTrue(other.getMessage().contains("was compiled from another program"), other.getMessage());
  }

  @Test
  void mistakesAreNamed() {
    assertThrows(TandemNotFoundException.class, () -> ExportedProgram.loadProgram(folder.resolve("none.pt2")));
    try (Scope scope = Scope.open(); ExportedProgram program = ExportedProgram.loadProgram(file("mlp"))) {
      TandemInvalidArgumentException wide =
          assertThrows(TandemInvalidArgumentException.class, () -> program.forward(pattern(1, 4, 7)));
      assertTrue(wide.getMessage().contains("size 1 of x is 7, but the program was exported for 6"), wide.getMessage());
    }
  }
}
