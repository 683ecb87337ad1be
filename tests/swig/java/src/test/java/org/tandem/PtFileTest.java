package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tandem.nn.BatchNorm2d;
import org.tandem.nn.Conv2d;
import org.tandem.nn.Functional;
import org.tandem.nn.Linear;
import org.tandem.nn.Sequential;
import org.tandem.optim.AdamW;
import org.tandem.optim.Optimizer;

/** Files that Python's torch reads and writes. */
class PtFileTest {
  @TempDir
  Path folder;

  /** What tests/weights/reference.py has in Python. */
  private static final class Trained implements AutoCloseable {
    final Sequential model = new Sequential(new Conv2d(2, 4, 3, new Conv2d.Options().bias(false)), new BatchNorm2d(4), Sequential.step(Tensor::relu),
        Sequential.step(x -> x.reshape(-1, 16)), new Linear(16, 3));
    final Optimizer adam;

    Trained() {
      List<Tensor> parameters = model.parameters();
      int last = parameters.size() - 2;
      adam = new AdamW(parameters.subList(0, last), 0.01);
      adam.addGroup(parameters.subList(last, parameters.size()), new Options().set("lr", 0.02));
    }

    void train(Map<?, ?> file) {
      model.train();
      for (int step = 0; step < 3; step++) {
        adam.zeroGrad();
        Functional.mseLoss(model.forward((Tensor) file.get("inputs")), (Tensor) file.get("targets")).backward();
        adam.step();
      }
    }

    Tensor evaluate(Map<?, ?> file) {
      model.eval();
      return model.forward((Tensor) file.get("inputs")).detach();
    }

    /** The state dict as it is under Python's DistributedDataParallel. */
    Map<String, Tensor> wrapped() {
      Map<String, Tensor> state = new LinkedHashMap<>();
      model.stateDict().forEach((name, tensor) -> state.put("module." + name, tensor.detach().copy()));
      return state;
    }

    @Override
    public void close() {
      adam.close();
      model.close();
    }
  }

  private static void assertClose(String what, Tensor found, Object expected) {
    assertEquals(found.dtype(), ((Tensor) expected).dtype(), what);
    assertArrayEquals(((Tensor) expected).to(DType.FLOAT64).toDoubleArray(), found.to(DType.FLOAT64).toDoubleArray(), 1e-4, what);
  }

  /** From a file, to where it says that this leads. */
  private static void goOn(Path path) {
    Map<?, ?> file = (Map<?, ?>) PtFile.load(path);
    assertEquals(1L, file.get("epoch"));
    try (Trained trained = new Trained()) {
      Map<String, Tensor> state = StateDict.of(file.get("model"));
      assertThrows(TandemInvalidArgumentException.class, () -> trained.model.loadStateDict(state));
      trained.model.loadStateDict(StateDict.rename(state, Map.of("^module\\.", "")));
      assertClose("the output", trained.evaluate(file), file.get("outputs"));
      trained.adam.setLearningRate(7); // is loaded
      trained.adam.loadStateDict(file.get("optimizer"));
      trained.train(file);
      Map<String, Tensor> now = trained.wrapped();
      ((Map<?, ?>) file.get("next")).forEach((name, expected) -> assertClose((String) name, now.get(name), expected));
      assertClose("the output later", trained.evaluate(file), file.get("next_outputs"));
    }
  }

  @Test
  void trainingGoesOnFromPython() {
    goOn(Path.of(System.getProperty("tandem.source"), "go/nn/testdata/trained.pt"));
  }

  /** Python goes on from the file where tests/weights/reference.py runs this. */
  @Test
  void trainingGoesOnInPython() {
    String python = System.getenv("TANDEM_PT_FOLDER");
    Path path = (python == null ? folder : Path.of(python)).resolve("java.pt");
    Tandem.manualSeed(1);
    Map<Object, Object> file = new LinkedHashMap<>(Map.of("epoch", 1));
    file.put("inputs", Tensor.randn(5, 2, 4, 4));
    file.put("targets", Tensor.randn(5, 3));
    try (Trained trained = new Trained()) {
      trained.train(file);
      file.put("model", trained.wrapped());
      file.put("outputs", trained.evaluate(file));
      file.put("optimizer", trained.adam.stateDict());
      PtFile.save(path, file); // now, for the state goes on
      @SuppressWarnings("unchecked")
      Map<Object, Object> whole = (Map<Object, Object>) PtFile.load(path, true, true);
      trained.train(file);
      whole.put("next", trained.wrapped());
      whole.put("next_outputs", trained.evaluate(file));
      PtFile.save(path, whole);
    }
    goOn(path);
  }

  @Test
  void safetensorsMayBeMapped() throws IOException {
    Path path = folder.resolve("a.safetensors");
    Safetensors.save(path, Map.of("x", Tensor.of(new float[] {1, 2})), Map.of());
    Tensor mapped = Safetensors.load(path, true).tensors().get("x");
    assertTrue(Files.readString(Path.of("/proc/self/maps")).contains(path.toString()), "nothing is mapped");
    mapped.mulInPlace(3);
    assertArrayEquals(new float[] {3, 6}, mapped.toFloatArray());
    assertArrayEquals(new float[] {1, 2}, Safetensors.load(path).tensors().get("x").toFloatArray());
  }

  @Test
  void valuesAreThoseOfPython() {
    Path path = folder.resolve("a.pt");
    Map<Object, Object> values = new LinkedHashMap<>();
    values.put("text", "Grüße");
    values.put(3L, true);
    values.put("none", null);
    values.put("list", Arrays.asList(1L, 0.5, List.of(), null));
    values.put("tuple", Tuple.of(1L, Tuple.of()));
    values.put("dtype", DType.BFLOAT16);
    values.put("device", Device.CPU);
    PtFile.save(path, values);
    assertEquals(values, PtFile.load(path));
    PtFile.save(path, Map.of("numbers", new int[] {1, 2}, "x", 1.5f));
    assertEquals(Map.of("numbers", List.of(1L, 2L), "x", 1.5), PtFile.load(path));
  }

  @Test
  void whatIsWrongIsNamed() throws Exception {
    Path path = folder.resolve("a.pt");
    assertThrows(TandemNotFoundException.class, () -> PtFile.load(path));
    String message = assertThrows(TandemInvalidArgumentException.class,
        () -> PtFile.save(path, Map.of("model", List.of(new Object())))).getMessage();
    assertTrue(message.contains("the value[model][0] is a java.lang.Object"), message);
    assertThrows(TandemInvalidArgumentException.class, () -> PtFile.save(path, Map.of(0.5, 1)));
    Path evil = Path.of(System.getProperty("tandem.source"), "tests/cpp/weights/files/evil_system.pt");
    message = assertThrows(TandemUnsupportedException.class, () -> PtFile.load(evil)).getMessage();
    assertTrue(message.contains("posix.system"), message);
    message = assertThrows(TandemInvalidArgumentException.class, () -> StateDict.of(Map.of("epoch", 1))).getMessage();
    assertTrue(message.contains("'epoch' is no tensor"), message);
    try (Linear a = new Linear(2, 1); Linear b = new Linear(3, 1)) {
      message = assertThrows(TandemInvalidArgumentException.class,
          () -> a.loadStateDict(Map.of("weight", b.stateDict().get("weight"), "other", Tensor.zeros(DType.FLOAT32, 1)))).getMessage();
      for (String part : List.of("shape of 'weight': [1, 3], wanted [1, 2]", "missing: 'bias'", "unexpected: 'other'")) {
        assertTrue(message.contains(part), message);
      }
    }
  }

  @Test
  void modulesAreSavedByTheNamesOfFiles() {
    Path path = folder.resolve("a.pt");
    try (Linear a = new Linear(3, 2); Linear b = new Linear(3, 2)) {
      a.save(path);
      assertEquals(2, StateDict.of(PtFile.load(path)).size());
      b.load(path);
      assertArrayEquals(a.parameters().get(0).toFloatArray(), b.parameters().get(0).toFloatArray());
      StateDict.Match match = b.loadPartialStateDict(Map.of("weight", a.parameters().get(0), "x", Tensor.zeros(DType.FLOAT32, 1)));
      assertEquals(new StateDict.Match(List.of("bias"), List.of("x")), match);
      Path model = folder.resolve("model");
      Safetensors.saveSharded(model, a.stateDict(), Map.of("format", "pt"), 20);
      assertTrue(Files.exists(model.resolve("model.safetensors.index.json")));
      b.load(model);
      assertEquals("pt", Safetensors.load(model).metadata().get("format"));
      assertThrows(TandemInvalidArgumentException.class,
          () -> Safetensors.saveSharded(model, a.stateDict(), Map.of(), 20));
    }
  }
}
