package org.tandem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.tandem.data.Dataset;
import org.tandem.data.Loader;
import org.tandem.nn.Linear;

/** Errors name Java's own methods and constants, whatever made them. */
class MessagesTest {
  /** The exception that JNI makes of an error. */
  private static TandemException error(String operation, String message) throws Exception {
    Method create = Class.forName("org.tandem.internal.Errors")
                        .getDeclaredMethod("create", int.class, byte[].class, byte[].class, Throwable.class);
    create.setAccessible(true);
    try {
      return (TandemException) create.invoke(null, ErrorCode.INVALID_ARGUMENT.number(),
          operation.getBytes(StandardCharsets.UTF_8), message.getBytes(StandardCharsets.UTF_8), null);
    } catch (InvocationTargetException thrown) {
      throw new AssertionError(operation + ": " + message, thrown.getCause());
    }
  }

  private static String told(String message) throws Exception {
    return error("x", message).getMessage().substring("x: ".length());
  }

  @Test
  void messages() throws Exception {
    Map<String, String> known = Map.ofEntries(
        Map.entry("read it with tdm_tensor_item_double()", "read it with Tensor.item()"),
        Map.entry("copy it with tdm_tensor_copy_to()", "copy it with Tensor.copyTo()"),
        Map.entry("keep it with tdm_scope_keep() to use it afterwards", "keep it with Scope.keep() to use it afterwards"),
        Map.entry("call tdm_loader_next() before", "call Loader.epoch() before"),
        Map.entry("Tandem was shut down (tdm_shutdown) before this call",
            "Tandem was shut down (Tandem.shutdown) before this call"),
        Map.entry("it is TDM_DTYPE_BFLOAT16", "it is DType.BFLOAT16"),
        Map.entry("argument 'dtype' is 99, which is no TDM_DTYPE", "argument 'dtype' is 99, which is no DType"),
        Map.entry("; TDM_DEVICE_CPU, TDM_DEVICE_CUDA, TDM_DEVICE_META and TDM_DEVICE_PRIVATE_USE_1 exist",
            "; Device.Type.CPU, Device.Type.CUDA, Device.Type.META and Device.Type.PRIVATE_USE_1 exist"),
        Map.entry("options->batch_size is 0", "option 'batchSize' is 0"),
        Map.entry("is 9, which is no tdm_reduce_op", "is 9, which is no ReduceOp"),
        Map.entry("TDM_MEMORY_FORMAT_CHANNELS_LAST_3D, TDM_ON_IO_ERROR_SKIP, TDM_REDUCE_OP_AVG",
            "Operator.MemoryFormat.CHANNELS_LAST_3D, OnIoError.SKIP, ReduceOp.AVG"),
        Map.entry("argument 'store' is NULL", "argument 'store' is null"),
        Map.entry("Specify retain_graph=True if you need to backward through the graph a second time",
            "Call backward(true) if you need to backward through the graph a second time"),
        Map.entry("by passing the keyword argument `find_unused_parameters=True` to "
                + "`torch.nn.parallel.DistributedDataParallel`",
            "by passing `findUnusedParameters(true)` to `DistributedDataParallel`"),
        // What is not the library's to name stays.
        Map.entry("/data/tdm_load has no records", "/data/tdm_load has no records"),
        Map.entry("no key 'tdm_load'", "no key 'tdm_load'"),
        Map.entry("libtandem_core.so lacks tdm_load", "libtandem_core.so lacks tdm_load"));
    for (Map.Entry<String, String> message : known.entrySet()) {
      assertEquals(message.getValue(), told(message.getKey()));
    }
  }

  /** C has one loader for both of Java's. */
  @Test
  void errorsOfDynamicLoadersNameTheirOwnMethods() throws Exception {
    String message = "call tdm_loader_next() before; tdm_loader_create_from() makes others";
    assertEquals("DynamicLoader.nextPart: call DynamicLoader.nextPart() before; Loader makes others",
        error("DynamicLoader::next", message).getMessage());
    assertEquals("Loader.epoch: call Loader.epoch() before; Loader makes others",
        error("tdm_loader_get_batch", message).getMessage());
    for (String function : List.of("tdm_loader_abort", "tdm_loader_add_transforms", "tdm_loader_commit",
             "tdm_loader_current_epoch", "tdm_loader_free", "tdm_loader_get_batch", "tdm_loader_get_quarantine",
             "tdm_loader_get_state", "tdm_loader_next", "tdm_loader_next_step", "tdm_loader_statistics_text")) {
      String name = error("DynamicLoader::next", function).getMessage().substring("DynamicLoader.nextPart: ".length());
      assertTrue(name.startsWith("DynamicLoader."), name);
      String method = name.substring("DynamicLoader.".length());
      assertTrue(java.util.Arrays.stream(type("DynamicLoader").getMethods()).anyMatch(m -> m.getName().equals(method)), name);
    }
  }

  @Test
  void operations() throws Exception {
    for (String called : List.of("NativeLoader_next", "NativeLoader_startEpoch", "NativeDynamicLoader_stepSize",
             "NativeDdp_prepareForward", "NativeDdp_setRequireBackwardGradSync", "NativeDdp_setBatchSamples",
             "NativeElastic_step", "NativeElastic_meet", "NativeElastic_describe", "NativeElastic_abort")) {
      String[] method = error(called, "m").operation().split("\\.");
      assertTrue(java.util.Arrays.stream(type(method[0]).getMethods()).anyMatch(m -> m.getName().equals(method[1])), called);
    }
    Map<String, String> known = Map.of("tdm_store_get", "Store.get", "tdm_all_reduce", "ProcessGroup.allReduce",
        "tdm_recordio_reader_create", "RecordIOReader", "NativeProcessGroup_abort", "ProcessGroup.abort",
        "new_NativeDdp", "DistributedDataParallel", "Optimizer::load_state", "Optimizer.loadState", "Some::new_thing", "Some.newThing", "Tensor.of",
        "Tensor.of");
    for (Map.Entry<String, String> operation : known.entrySet()) {
      assertEquals(operation.getValue(), error(operation.getKey(), "m").operation());
    }
  }

  /** Whatever C function the facade that SWIG wraps may fail in has a name in Java. */
  @Test
  void everyFunctionThatJavaCallsHasAName() throws Exception {
    Set<String> notJavas = Set.of("tdm_tensor_grad_fn_name", "tdm_autograd_grad",
        "tdm_named_tensors_get", "tdm_tensor_get_device");
    List<String> nameless = new ArrayList<>();
    int count = 0;
    for (String header : List.of("runtime", "tensor", "operator", "nn", "optim", "checkpoint", "dist", "dataset", "own_dataset",
             "data", "dynamic_loader", "elastic", "parameter_server")) {
      Path file = Path.of(System.getProperty("tandem.source"), "swig/facade/tandem/abi", header + ".hpp");
      Matcher call = Pattern.compile("check\\((tdm_[a-z0-9_]+)\\(").matcher(Files.readString(file));
      while (call.find()) {
        count++;
        String function = call.group(1);
        if (!notJavas.contains(function)
            && (error(function, "m").operation().contains("tdm_") || told("call " + function + "()").contains("tdm_"))) {
          nameless.add(header + ": " + function);
        }
      }
    }
    assertEquals(List.of(), nameless);
    assertTrue(count > 60, count + " calls found");
  }

  /** And each Java name is one: a public class of the jar, and a public method of it. */
  @Test
  void theNamesAreThoseOfMethods() throws Exception {
    Set<String> names = new java.util.TreeSet<>();
    Path facade = Path.of(System.getProperty("tandem.source"), "swig/facade/tandem/abi");
    try (var files = Files.list(facade)) {
      for (Path file : (Iterable<Path>) files.filter(path -> path.toString().endsWith(".hpp"))::iterator) {
        Matcher function = Pattern.compile("\\btdm_[a-z0-9_]+(?=\\()").matcher(Files.readString(file));
        while (function.find()) {
          names.add(error(function.group(), "m").operation());
        }
      }
    }
    names.removeIf(name -> name.startsWith("tdm_"));
    assertTrue(names.size() > 60, names.toString());
    for (String name : names) {
      int dot = name.indexOf('.', name.startsWith("Loader.Batch") ? "Loader.Batch".length() : 0);
      Class<?> type = type(dot < 0 ? name : name.substring(0, dot));
      assertTrue(dot < 0 || java.util.Arrays.stream(type.getMethods()).anyMatch(
                                method -> method.getName().equals(name.substring(dot + 1))), name);
    }
  }

  private static Class<?> type(String name) throws ClassNotFoundException {
    for (String place : List.of("", "data.", "dist.", "elastic.", "nn.", "optim.", "rpc.")) {
      try {
        return Class.forName("org.tandem." + place + name.replace('.', '$'));
      } catch (ClassNotFoundException elsewhere) {
        continue;
      }
    }
    throw new ClassNotFoundException(name);
  }

  private static void assertJava(Executable call) {
    TandemException error = assertThrows(TandemException.class, call);
    String message = error.getMessage();
    for (String other : List.of("tdm_", "TDM_", "=True", "Native", "torch.", "NULL", "options->")) {
      assertFalse(message.contains(other), message);
    }
  }

  @Test
  void whatProgramsMeet() {
    try (Scope scope = Scope.open()) {
      Tensor pair = Tensor.ones(DType.FLOAT32, 2);
      assertJava(pair::item);
      assertJava(pair::itemLong);
      assertJava(() -> pair.add(Tensor.ones(DType.FLOAT32, 3)));
      Tensor leaf = Tensor.scalar(1).requiresGrad(true);
      Tensor square = leaf.mul(leaf);
      square.backward();
      assertJava(square::backward);
      assertJava(() -> Tensor.of(new long[] {1}).requiresGrad(true));
      assertJava(() -> new Loader(Dataset.ofTensors(List.of(pair)), new Loader.Options().batchSize(0)));
      assertJava(() -> Dataset.ofTensors(List.of()));
      try (Linear linear = new Linear(2, 2)) {
        assertJava(() -> linear.forward(Tensor.ones(DType.FLOAT32, 3)));
      }
      assertJava(() -> Operator.find("aten::add", "Tensor").call(1));
      assertJava(() -> Operator.find("aten::add", "Tensor").call(pair, "text"));
    }
  }
}
