package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tandem.dist.DistributedDataParallel;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.Store;
import org.tandem.nn.BatchNorm1d;
import org.tandem.nn.Functional;
import org.tandem.nn.Linear;
import org.tandem.nn.ScriptModule;
import org.tandem.nn.Sequential;
import org.tandem.optim.Optimizer;
import org.tandem.optim.SGD;

/** Modules of TorchScript; the files are those of tests/jit/models.py. */
@Timeout(300)
class ScriptModuleTest {
  @TempDir
  Path folder;

  private static Path file(String name) {
    return Path.of(System.getProperty("tandem.source"), "tests", "jit", "files", name);
  }

  private static Map<String, Tensor> expected() { return Safetensors.load(file("expected.safetensors")).tensors(); }

  private static void assertClose(Tensor found, Tensor expected, String what) {
    assertArrayEquals(expected.sizes(), found.sizes(), what);
    double off = found.sub(expected).abs().max().item();
    assertTrue(off <= 1e-10 * Math.max(1, expected.abs().max().item()), what + " is off by " + off);
  }

  @Test
  void modulesAreModules() {
    try (Scope scope = Scope.open(); ScriptModule module = ScriptModule.loadScript(file("norm.pt"))) {
      Map<String, Tensor> reference = expected();
      Tensor x = reference.get("inputs").select(0, 0).select(0, 0);
      assertTrue(module.isTraining());
      module.eval();
      assertClose(module.forward(x).detach(), reference.get("norm.eval"), "evaluating");
      module.train();
      assertClose(module.forward(x).detach(), reference.get("norm.train"), "training");
      assertEquals(Set.of("first.weight", "first.bias", "norm.weight", "norm.bias", "last.weight", "last.bias", "calls",
                       "norm.running_mean", "norm.running_var", "norm.num_batches_tracked"),
          module.stateDict().keySet());
      assertEquals(2, module.namedBuffers().get("calls").item());
      module.to(DType.FLOAT32);
      assertEquals(DType.FLOAT32, module.forward(x.to(DType.FLOAT32)).dtype());
    }
    try (ScriptModule tied = ScriptModule.loadScript(file("tied.pt")); ScriptModule frozen = ScriptModule.loadScript(file("frozen.pt"))) {
      assertEquals(3, tied.parameters().size());
      assertSame(tied.stateDict().get("first.weight"), tied.stateDict().get("second.weight"));
      assertTrue(frozen.parameters().isEmpty());
      assertFalse(frozen.isTraining());
    }
  }

  @Test
  void methodsTakeAndGiveNestedValues() {
    try (Scope scope = Scope.open(); ScriptModule module = ScriptModule.loadScript(file("nested.pt"))) {
      assertArrayEquals(new String[] {"check", "forward", "numbers", "point", "product", "shift"}, module.methods());
      assertEquals("shift(x: Tensor, by: Optional[int] = None) -> Tensor", module.schema("shift"));
      Tensor one = Tensor.of(new double[] {1});
      Tensor two = Tensor.of(new double[] {2});
      Map<?, ?> result = (Map<?, ?>) module.call("forward", Tuple.of(one, two), List.of(two), Map.of("a", one, "b", two), 10);
      Tuple all = (Tuple) result.get("all");
      assertEquals(12, ((Tensor) all.elements().get(0)).item());
      assertEquals(4, ((Tensor) ((List<?>) all.elements().get(1)).get(0)).item());
      Tuple numbers = (Tuple) module.call(
          "numbers", new int[] {1, 2}, Map.of(7, 0.5), List.of("x"), List.of(List.of(1, 2, 3), List.of()));
      assertEquals(List.of(3L, Map.of("x", List.of(0.5)), List.of(List.of(3L, 2L, 1L), List.of()), true), numbers.elements());
    }
  }

  @Test
  void mistakesAreExceptions() throws IOException {
    try (Scope scope = Scope.open(); ScriptModule module = ScriptModule.loadScript(file("nested.pt"))) {
      Tensor below = Tensor.of(new double[] {-1});
      assertTrue(assertThrows(TandemNotFoundException.class, () -> module.call("hide")).getMessage()
                     .contains("no method 'hide'; it has check, forward"));
      assertTrue(assertThrows(TandemInvalidArgumentException.class, () -> module.call("shift", below, "much")).getMessage()
                     .contains("must be of type int, and is a str: shift(x: Tensor"));
      assertTrue(assertThrows(TandemInvalidArgumentException.class, () -> module.call("shift", new Object())).getMessage()
                     .contains("argument 0 is a java.lang.Object, which no model of Python takes"));
      assertTrue(assertThrows(TandemInvalidArgumentException.class, () -> module.call("check", below)).getMessage()
                     .contains("ValueError: an element is negative (code/__torch__.py, line"));
    }
    assertThrows(TandemNotFoundException.class, () -> ScriptModule.loadScript(folder.resolve("none.pt")));
    byte[] bytes = Files.readAllBytes(file("mlp.pt"));
    assertThrows(TandemDataLossException.class, () -> ScriptModule.loadScript(Arrays.copyOf(bytes, bytes.length / 2)));
    assertThrows(TandemDataLossException.class, () -> ScriptModule.loadScript(new byte[0]));
    assertThrows(TandemInvalidArgumentException.class, () -> ScriptModule.compile("def f(x):\n    return y\n"));
    ScriptModule closed = ScriptModule.loadScript(bytes);
    closed.close();
    assertThrows(TandemClosedException.class, closed::methods);
  }

  @Test
  void functionsAreCompiled() {
    try (Scope scope = Scope.open();
        ScriptModule module = ScriptModule.compile("def scaled(x, by: float = 2.0):\n    return torch.relu(x) * by\n");
        ScriptModule again = ScriptModule.loadScript(module.toBytes())) {
      Tensor x = Tensor.of(new float[] {-1, 3}).requiresGrad(true);
      ((Tensor) again.call("scaled", x, 4)).sum().backward();
      assertArrayEquals(new float[] {0, 4}, x.grad().toFloatArray());
    }
  }

  @Test
  void modulesAndFunctionsAreTraced() {
    try (Scope scope = Scope.open(); Sequential model = new Sequential(new Linear(4, 3), new BatchNorm1d(3))) {
      Tensor x = Tensor.randn(5, 4);
      try (ScriptModule traced =
               ScriptModule.trace(inputs -> new Tensor[] {model.forward(inputs[0]).tanh()}, new Tensor[] {x}, model)) {
        assertEquals(model.stateDict().keySet(), traced.stateDict().keySet());
        traced.forward(x).pow(2).sum().backward();
        assertTrue(model.parameters().get(0).grad() != null);
        Path saved = folder.resolve("traced.pt");
        traced.saveScript(saved);
        try (ScriptModule again = ScriptModule.loadScript(saved)) {
          assertEquals(0, again.forward(x).sub(model.forward(x).tanh()).abs().max().item(), 1e-6);
        }
      }
      IllegalStateException own = new IllegalStateException("mine");
      try (Linear same = new Linear(2, 2)) {
        assertTrue(assertThrows(TandemInvalidArgumentException.class,
            () -> ScriptModule.trace(inputs -> inputs, new Tensor[] {x}, same, same)).getMessage().contains("'weight'"));
      }
      TandemException failed = assertThrows(TandemException.class, () -> ScriptModule.trace(inputs -> {
        throw own;
      }, new Tensor[] {x}));
      assertSame(own, failed.getCause());
      assertTrue(assertThrows(TandemException.class,
          () -> ScriptModule.trace(inputs -> new Tensor[] {model.forward(inputs[0])}, new Tensor[] {x}))
                     .getMessage().contains("Cannot insert a Tensor that requires grad as a constant"));
    }
  }

  /** One of two ranks that train as models.py does; rank 0 saves. */
  static void train(Path meeting, int rank, String name, Path saved) {
    try (Store store = Store.file(meeting, 2);
        ProcessGroup group = ProcessGroup.init(
            new ProcessGroup.Options().store(store).rank(rank).worldSize(2).timeout(Duration.ofSeconds(60)));
        ScriptModule module = ScriptModule.loadScript(file(name + ".pt"));
        DistributedDataParallel ddp = new DistributedDataParallel(module, group);
        Optimizer sgd = new SGD(module.parameters(), 0.1, new SGD.Options().momentum(0.9))) {
      Map<String, Tensor> reference = expected();
      for (int step = 0; step < 20; step++) {
        try (Scope scope = Scope.open()) {
          sgd.zeroGrad();
          Tensor output = ddp.forward(reference.get("inputs").select(0, rank).select(0, step));
          Functional.mseLoss(output, reference.get("targets").select(0, rank).select(0, step)).backward();
          sgd.step();
        }
      }
      if (rank == 0) {
        module.saveScript(saved);
      }
    }
  }

  @Test
  void twoRanksTrainAsPythonsDo() throws Exception {
    for (String name : List.of("norm", "tied")) {
      Path saved = folder.resolve(name + ".pt");
      List<Child> children = new ArrayList<>();
      for (int rank = 0; rank < 2; rank++) {
        children.add(Child.start(List.of("-Dtandem.source=" + System.getProperty("tandem.source")), Programs.class,
            "train-a-script", folder.resolve(name).toString(), Integer.toString(rank), name, saved.toString()));
      }
      for (Child child : children) {
        child.expect(0);
      }
      try (Scope scope = Scope.open(); ScriptModule module = ScriptModule.loadScript(saved)) {
        Map<String, Tensor> reference = expected();
        module.stateDict().forEach((key, tensor) -> assertClose(tensor.detach(), reference.get(name + ".trained." + key), key));
      }
    }
  }
}
