package org.tandem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.tandem.nn.BatchNorm1d;
import org.tandem.nn.BatchNorm2d;
import org.tandem.nn.Conv2d;
import org.tandem.nn.Dropout;
import org.tandem.nn.Embedding;
import org.tandem.nn.Flatten;
import org.tandem.nn.Functional;
import org.tandem.nn.LSTM;
import org.tandem.nn.Linear;
import org.tandem.nn.Module;
import org.tandem.nn.ModuleDict;
import org.tandem.nn.ModuleList;
import org.tandem.nn.RemovableHandle;
import org.tandem.nn.Sequential;
import org.tandem.nn.Summary;

/** Trees of modules: containers, names, copies, hooks, moves, the table. */
class ModuleTreeTest {
  private static List<String> names(Map<String, ?> named) {
    return List.copyOf(named.keySet());
  }

  /** A model as a program would write it, with parts in several places. */
  private static final class Net extends Module {
    record Pair(Linear first, Linear second) {}

    private final Embedding embed = register("embed", new Embedding(5, 3));
    private final ModuleList<Linear> layers = register("layers", new ModuleList<>(new Linear(3, 3), new Linear(3, 3)));
    private final ModuleDict<Module> heads = register("heads", new ModuleDict<>());
    private final Tensor scale = registerParameter("scale", Tensor.ones(DType.FLOAT32, 3));
    private final Tensor steps = registerBuffer("steps", Tensor.of(new long[] {0}));
    private final Tied tied = register("tied", new Tied(embed.getParameter("weight")));
    private final Pair pair = new Pair(layers.get(0), layers.get(1));
    private final List<Linear> inOrder = new ArrayList<>(List.of(layers.get(1)));
    private final Linear[] array = {layers.get(0)};
    private final String name = "net";
    private Linear extra = new Linear(1, 1); // no part

    Net() {
      heads.put("z", new Linear(3, 2)).put("a", new Dropout(0.5));
    }

    @Override
    public Tensor forward(Tensor words) {
      Tensor x = embed.forward(words);
      for (Linear layer : layers) {
        x = layer.forward(x);
      }
      return tied.forward(pair.first().forward(x).mul(scale));
    }
  }

  /** A head with the embedding's weight. */
  private static final class Tied extends Module {
    private final Tensor weight;

    Tied(Tensor weight) {
      this.weight = registerParameter("weight", weight);
    }

    @Override
    public Tensor forward(Tensor x) {
      return Functional.linear(x, weight, null);
    }
  }

  @Test
  void containersNameTheirModules() {
    try (Net net = new Net()) {
      assertEquals(List.of("scale", "embed.weight", "layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias",
          "heads.z.weight", "heads.z.bias"), names(net.namedParameters()));
      assertEquals(List.of("steps"), names(net.namedBuffers()));
      assertTrue(net.stateDict().containsKey("tied.weight"), "a shared tensor has both names in the state");
      assertEquals(List.of("embed", "layers", "heads", "tied"), names(net.namedChildren()));
      assertEquals(List.of("", "embed", "layers", "layers.0", "layers.1", "heads", "heads.z", "heads.a", "tied"),
          names(net.namedModules()));
      assertSame(net.layers.get(1), net.getSubmodule("layers.1"));
      assertSame(net.scale, net.getParameter("scale"));
      assertSame(net.steps, net.getBuffer("steps"));
      String message = assertThrows(TandemNotFoundException.class, () -> net.getParameter("layers.2.bias")).getMessage();
      assertTrue(message.contains("layers.1.bias"), message);
    }
  }

  @Test
  void listsAndDictsChange() {
    Linear first = new Linear(1, 2);
    Linear last = new Linear(2, 3, new Linear.Options().bias(false));
    try (ModuleList<Linear> list = new ModuleList<>(last)) {
      list.insert(0, first);
      assertEquals(List.of("0.weight", "0.bias", "1.weight"), names(list.namedParameters()));
      Linear other = new Linear(2, 2);
      list.set(1, other);
      list.append(last);
      List<Linear> all = new ArrayList<>();
      list.forEach(all::add);
      assertEquals(List.of(first, other, last), all);
      assertThrows(IndexOutOfBoundsException.class, () -> list.get(3));
      assertThrows(IndexOutOfBoundsException.class, () -> list.set(3, first));
      assertThrows(TandemUnsupportedException.class, () -> list.forward(Tensor.ones(DType.FLOAT32, 1)));
    }
    Map<String, Linear> given = new LinkedHashMap<>();
    given.put("z", new Linear(1, 1));
    given.put("a", new Linear(1, 2));
    try (ModuleDict<Linear> dict = new ModuleDict<>(given)) {
      dict.put("z", new Linear(1, 4));
      assertEquals(List.of("z", "a"), names(dict.asMap()));
      assertArrayEquals(new long[] {4, 1}, dict.getParameter("z.weight").sizes());
      assertTrue(assertThrows(TandemNotFoundException.class, () -> dict.get("b")).getMessage().contains("[z, a]"));
      assertThrows(TandemInvalidArgumentException.class, () -> dict.put("a.b", new Linear(1, 1)));
      assertSame(given.get("a"), dict.remove("a"));
      assertFalse(dict.containsKey("a"));
      assertNull(dict.remove("a"));
      assertEquals(1, dict.size());
    }
  }

  @Test
  void sharedModulesCountOnce() {
    Linear shared = new Linear(2, 2);
    try (Sequential net = new Sequential(shared, Sequential.step(Tensor::relu), shared)) {
      assertEquals(List.of("0.weight", "0.bias"), names(net.namedParameters()));
      assertEquals(List.of("0.weight", "0.bias", "2.weight", "2.bias"), names(net.stateDict()));
      int[] calls = {0};
      net.apply(module -> calls[0]++);
      assertEquals(3, calls[0]);
      try (Sequential other = new Sequential(new Linear(2, 2), Sequential.step(Tensor::relu), new Linear(2, 2))) {
        other.loadStateDict(net.stateDict());
        assertArrayEquals(shared.getParameter("bias").toFloatArray(), other.getParameter("2.bias").toFloatArray());
      }
    }
  }

  @Test
  void partsAreReplaced() {
    final class Classifier extends Module {
      private Linear head = register("head", new Linear(2, 3));

      void setHead(String name, Linear other) {
        head = replace(name, other);
      }

      void addHead(Linear other) {
        register("head", other);
      }

      @Override
      public Tensor forward(Tensor x) {
        return head.forward(x);
      }
    }
    try (Classifier net = new Classifier(); Linear old = net.head; Scope scope = Scope.open()) {
      net.setHead("head", new Linear(2, 7));
      assertArrayEquals(new long[] {1, 7}, net.forward(Tensor.ones(DType.FLOAT32, 1, 2)).sizes());
      assertArrayEquals(new long[] {7}, net.getParameter("head.bias").sizes());
      assertThrows(TandemInvalidArgumentException.class, () -> net.addHead(old));
      assertThrows(TandemNotFoundException.class, () -> net.setHead("tail", old));
    }
  }

  @Test
  void copiesHaveTensorsOfTheirOwn() {
    try (Net net = new Net(); Scope scope = Scope.open()) {
      net.layers.get(0).requiresGrad(false);
      net.eval();
      Tensor words = Tensor.of(new long[] {1, 4});
      float[] before = net.forward(words).toFloatArray();
      net.getParameter("embed.weight").grad();
      Net copy = Module.copyOf(net);
      assertEquals(names(net.stateDict()), names(copy.stateDict()));
      try (Tandem.NoGrad off = Tandem.noGrad()) {
        net.stateDict().values().forEach(tensor -> tensor.fillInPlace(0.5));
      }
      assertArrayEquals(before, copy.forward(words).toFloatArray());
      assertFalse(copy.isTraining() || copy.heads.get("a").isTraining());
      assertFalse(copy.getParameter("layers.0.weight").requiresGrad());
      assertTrue(copy.getParameter("layers.1.weight").requiresGrad() && copy.scale.requiresGrad());
      // Fields lead to the copy's own, wherever they are.
      assertSame(copy.getSubmodule("layers.0"), copy.pair.first());
      assertSame(copy.getSubmodule("layers.1"), copy.inOrder.get(0));
      assertSame(copy.getSubmodule("layers.0"), copy.array[0]);
      assertSame(copy.getParameter("scale"), copy.scale);
      assertSame(copy.getParameter("embed.weight"), copy.tied.weight);
      assertNotSame(net.getSubmodule("layers.0"), copy.pair.first());
      // What is no part is shared.
      assertSame(net.extra, copy.extra);
      assertSame(net.name, copy.name);
      Tensor x = Tensor.ones(DType.FLOAT32, 8, 4);
      try (Sequential dropping = new Sequential(new Dropout(0.5))) {
        dropping.eval();
        Sequential other = Module.copyOf(dropping);
        assertArrayEquals(x.toFloatArray(), other.forward(x).toFloatArray(), "the copy of a module that evaluates does");
        other.close();
      }
      copy.close();
      net.forward(words);
      net.extra.close();
    }
  }

  private static final class TiedNet extends Module {
    private final Embedding embed = register("embed", new Embedding(5, 3, new Embedding.Options().paddingIdx(-1)));
    private final Linear head = register("head", new Linear(3, 5));
    private final Conv2d first = register("first", new Conv2d(1, 2, 3));
    private final Conv2d second =
        register("second", new Conv2d(1, 2, 3, new Conv2d.Options().stride(2, 1).padding(1).bias(false)));

    @Override
    public Tensor forward(Tensor indices) {
      return head.forward(embed.forward(indices));
    }
  }

  private static float[] floats(Tensor tensor) {
    return tensor.detach().toFloatArray();
  }

  @Test
  void parametersAreTied() {
    try (Scope scope = Scope.open()) {
      TiedNet net = new TiedNet();
      int before = net.parameters().size();
      net.tie("head.weight", "embed.weight");
      net.tie("second.weight", "first.weight");
      net.tie("second.weight", "first.weight"); // they are
      Tensor weight = net.embed.getParameter("weight");
      assertSame(weight, net.head.getParameter("weight"));
      assertEquals(before - 2, net.parameters().size());
      assertEquals(List.of("embed.weight", "head.weight", "head.bias", "first.weight", "first.bias", "second.weight"),
          names(net.stateDict()));

      Tensor indices = Tensor.of(new long[] {0, 2, 4, 2});
      Tensor own = weight.detach().copy().requiresGrad(true);
      Tensor expected = Functional.linear(
          Operator.find("aten::embedding", "").callNamed(new Options().set("padding_idx", 4L), own, indices), own,
          net.head.getParameter("bias").detach());
      Tensor given = net.forward(indices);
      assertArrayEquals(floats(expected), floats(given));
      expected.mul(expected).sum().backward();
      given.mul(given).sum().backward();
      assertArrayEquals(own.grad().toFloatArray(), weight.grad().toFloatArray());

      Tensor picture = Tensor.rand(1, 1, 6, 5);
      Conv2d alone = new Conv2d(1, 2, 3, new Conv2d.Options().stride(2, 1).padding(1).bias(false));
      alone.loadStateDict(Map.of("weight", net.first.getParameter("weight")));
      assertArrayEquals(floats(alone.forward(picture)), floats(net.second.forward(picture)));
      assertArrayEquals(floats(alone.forward(picture)), floats(net.second.forwardAll(picture)[0]));

      TiedNet copy = Module.copyOf(net);
      assertSame(copy.embed.getParameter("weight"), copy.head.getParameter("weight"));
      assertNotSame(weight, copy.head.getParameter("weight"));
      assertEquals(before - 2, copy.parameters().size());
      assertArrayEquals(floats(given), floats(copy.forward(indices)));
      copy.to(DType.FLOAT64);
      assertEquals(DType.FLOAT64, copy.forward(indices).dtype());
    }
  }

  @Test
  void tiesThatCannotBeAreRefused() {
    try (Scope scope = Scope.open()) {
      TiedNet net = new TiedNet();
      assertTrue(assertThrows(TandemNotFoundException.class, () -> net.tie("head.wait", "embed.weight")).getMessage()
          .contains("'head.wait'; there are [embed.weight, head.weight"));
      assertTrue(assertThrows(TandemInvalidArgumentException.class, () -> net.tie("head.bias", "embed.weight")).getMessage()
          .contains("parameters that are tied are alike"));
      Module recurrent = new Sequential(new LSTM(3, 3), new LSTM(3, 3));
      assertTrue(assertThrows(TandemUnsupportedException.class, () -> recurrent.tie("1.weight_ih_l0", "0.weight_ih_l0"))
          .getMessage().contains("belongs to a LSTM"));
      Module sparse = new Sequential(new Embedding(5, 3, new Embedding.Options().sparse(true)), new Linear(3, 5));
      assertThrows(TandemInvalidArgumentException.class, () -> sparse.tie("1.weight", "0.weight"));
      net.tie("head.weight", "embed.weight");
      assertThrows(TandemUnsupportedException.class, () -> net.head.parametrize("weight_norm", "weight", new Options()));
    }
  }

  @Test
  void functionsOfTheTreeAreNotCopied() {
    Linear inner = new Linear(2, 2);
    final class Wraps extends Module {
      private final UnaryOperator<Tensor> function;

      Wraps(UnaryOperator<Tensor> function) {
        this.function = function;
        register("inner", inner);
      }
    }
    try (Wraps net = new Wraps(x -> inner.forward(x))) {
      String message = assertThrows(TandemInvalidArgumentException.class, () -> Module.copyOf(net)).getMessage();
      assertTrue(message.contains("'function'") && message.contains("Linear of the tree"), message);
    }
  }

  @Test
  void hooksSeeAndChange() {
    Linear layer = new Linear(2, 2);
    List<String> seen = new ArrayList<>();
    try (Sequential net = new Sequential(layer, Sequential.step(Tensor::neg)); Scope scope = Scope.open()) {
      RemovableHandle before = net.registerForwardPreHook((module, inputs) -> {
        seen.add("before");
        return new Object[] {Tensor.zeros(DType.FLOAT32, 1, 2)};
      });
      RemovableHandle after = layer.registerForwardHook((module, inputs, outputs) -> {
        assertSame(layer, module);
        assertEquals(0, ((Tensor) inputs[0]).sum().item());
        seen.add("linear");
        return new Tensor[] {outputs[0].add(1)};
      });
      RemovableHandle ofFunction = net.get(1).registerForwardHook((module, inputs, outputs) -> {
        seen.add("function");
        return null;
      });
      float[] bias = layer.getParameter("bias").toFloatArray();
      assertArrayEquals(new float[] {-bias[0] - 1, -bias[1] - 1}, net.forward(Tensor.randn(1, 2)).flatten(0).toFloatArray(),
          1e-6f);
      assertEquals(List.of("before", "linear", "function"), seen);

      // A copy has the same, which go where its own are removed.
      Sequential copy = Module.copyOf(net);
      before.remove();
      after.close();
      after.close();
      ofFunction.remove();
      seen.clear();
      net.forward(Tensor.randn(1, 2));
      assertEquals(List.of(), seen);
      assertThrows(AssertionError.class, () -> copy.forward(Tensor.randn(1, 2)), "its module is another");
      assertEquals(List.of("before"), seen);
      copy.close();
    }
  }

  @Test
  void hooksOfModulesOfOnesOwnAreCalledByCall() {
    int[] calls = {0};
    try (Net net = new Net(); LSTM lstm = new LSTM(2, 3); Scope scope = Scope.open()) {
      Tensor words = Tensor.of(new long[] {1});
      net.registerForwardHook((module, inputs, outputs) -> {
        calls[0]++;
        return null;
      });
      net.forward(words);
      assertEquals(0, calls[0]);
      net.call(words);
      assertEquals(1, calls[0]);
      long[] count = {0};
      lstm.registerForwardHook((module, inputs, outputs) -> {
        count[0] = outputs.length;
        return null;
      });
      lstm.forwardAll(Tensor.randn(4, 1, 2));
      assertEquals(3, count[0], "output and both states");
      net.registerForwardPreHook((module, inputs) -> new Object[] {"text"});
      assertThrows(TandemInvalidArgumentException.class, () -> net.call(words));
      net.extra.close();
    }
  }

  @Test
  void dtypesAreConverted() {
    try (Net net = new Net(); Scope scope = Scope.open()) {
      Tensor weight = net.getParameter("layers.0.weight");
      net.forward(Tensor.of(new long[] {1})).sum().backward();
      assertSame(net, net.to(DType.FLOAT64));
      for (Tensor tensor : net.parameters()) {
        assertEquals(DType.FLOAT64, tensor.dtype());
      }
      assertEquals(DType.FLOAT64, weight.grad().dtype());
      assertEquals(DType.FLOAT64, net.scale.grad().dtype());
      assertEquals(DType.INT64, net.steps.dtype());
      assertEquals(DType.FLOAT64, net.forward(Tensor.of(new long[] {1})).dtype());
      net.to(Device.CPU, DType.BFLOAT16);
      assertEquals(DType.BFLOAT16, weight.dtype());
      assertTrue(weight.requiresGrad() && weight.isLeaf());
      assertThrows(TandemInvalidArgumentException.class, () -> net.to(DType.INT64));
      net.extra.close();
    }
  }

  @Test
  void summaries() {
    int[] calls = {0};
    try (Sequential net = new Sequential(new Conv2d(1, 2, 3), new BatchNorm2d(2), new Flatten(), new Linear(8, 1000));
        Scope scope = Scope.open()) {
      net.get(0).requiresGrad(false);
      String table = Summary.of(net, () -> {
        calls[0]++;
        net.forward(Tensor.zeros(DType.FLOAT32, 1, 1, 4, 4));
      }).toString();
      assertEquals(String.join("\n",
          "Module             Output shape  Parameters",
          "===========================================",
          "Sequential         [1, 1000]             --",
          "  Conv2d (0)       [1, 2, 2, 2]          20",
          "  BatchNorm2d (1)  [1, 2, 2, 2]           4",
          "  Flatten (2)      [1, 8]                --",
          "  Linear (3)       [1, 1000]          9,000",
          "===========================================",
          "Parameters: 9,024, of which 9,004 are trained. Parameters and buffers: 0.04 MB", ""), table);
      assertEquals(1, calls[0]);
      assertTrue(net.isTraining() && net.get(1).isTraining());
      Summary without = Summary.of(net);
      assertEquals(List.of(), without.rows().get(0).outputs());
      assertEquals(List.of("", "0", "1", "2", "3"), without.rows().stream().map(Summary.Row::name).toList());
      assertEquals(9024, without.parameters());
    }
    try (Sequential named = new Sequential(new LinkedHashMap<>(Map.of("norm", new BatchNorm1d(1))))) {
      assertEquals(List.of("norm"), names(named.namedChildren()));
      assertEquals(Arrays.asList("", "norm"), Summary.of(named).rows().stream().map(Summary.Row::name).toList());
    }
  }
}
