package org.tandem.internal;

import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.tandem.DType;
import org.tandem.Device;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.TandemUnsupportedException;
import org.tandem.Tensor;
import org.tandem.Tuple;
import org.tandem.rpc.RRef;

/**
 * Values that nest, to and from native ones: what files of torch.save hold, and the states of optimizers and schedulers.
 * {@link org.tandem.PtFile} lists them.
 */
public final class Values {
  /** As the C ABI has it; a value that contains itself would have no end. */
  private static final int DEEPEST = 64;

  private final String operation;
  private final String refusal;
  private final boolean ofCalls; // there are references and bytes
  private final List<NativeHandle> pinned = new ArrayList<>();

  private Values(String operation, String refusal, boolean ofCalls) {
    this.operation = operation;
    this.refusal = refusal;
    this.ofCalls = ofCalls;
  }

  /** Runs {@code body} with the one argument {@code value}, whose tensors stay open until it has returned. */
  public static void give(String operation, Object value, Consumer<NativeArguments> body) {
    Values values = new Values(operation, "no state and no file of torch.save has", false);
    values.with(arguments -> values.add(arguments, value, "the value", 0), body);
  }

  /** The same with several arguments, of a method of TorchScript. */
  public static void giveAll(String operation, Object[] given, Consumer<NativeArguments> body) {
    giveAll(new Values(operation, "no model of Python takes", false), given, body);
  }

  /** The same for a call of another worker. */
  public static void giveCall(String operation, Object[] given, Consumer<NativeArguments> body) {
    giveAll(new Values(operation, "no call takes", true), given, body);
  }

  private static void giveAll(Values values, Object[] given, Consumer<NativeArguments> body) {
    values.with(arguments -> {
      for (int i = 0; i < given.length; i++) {
        values.add(arguments, given[i], "argument " + i, 0);
      }
    }, body);
  }

  private void with(Consumer<NativeArguments> fill, Consumer<NativeArguments> body) {
    try (NativeArguments arguments = new NativeArguments()) {
      fill.accept(arguments);
      body.accept(arguments);
    } finally {
      pinned.forEach(handle -> NativeHandle.unpin(handle));
    }
  }

  private void add(NativeArguments to, Object value, String place, int depth) {
    if (depth > DEEPEST) {
      throw new TandemInvalidArgumentException(operation, "values nest more than " + DEEPEST + " deep");
    }
    if (value == null) {
      to.addNone();
    } else if (value instanceof Tensor tensor) {
      NativeTensor handle = Natives.of(tensor);
      NativeHandle.pin(handle);
      pinned.add(handle);
      to.add(handle);
    } else if (value instanceof Boolean flag) {
      to.addBool(flag);
    } else if (value instanceof Long || value instanceof Integer) {
      to.addInt(((Number) value).longValue());
    } else if (value instanceof Double || value instanceof Float) {
      to.addDouble(((Number) value).doubleValue());
    } else if (value instanceof String text) {
      to.addString(text);
    } else if (ofCalls && value instanceof RRef reference) {
      NativeRref handle = Natives.of(reference);
      NativeHandle.pin(handle);
      pinned.add(handle);
      to.addRref(handle);
    } else if (ofCalls && value instanceof byte[] bytes) {
      to.addBytes(bytes);
    } else if (value instanceof DType dtype) {
      to.addDtype(dtype.number());
    } else if (value instanceof Device device) {
      to.addDevice(device.type().number(), device.index());
    } else if (value instanceof Map<?, ?> map) {
      addMap(to, map, place, depth);
    } else if (value instanceof Tuple tuple) {
      addAll(to, ValueTag.TUPLE, tuple.elements(), place, depth);
    } else if (value instanceof Collection<?> list) {
      addAll(to, ValueTag.LIST, list, place, depth);
    } else if (value.getClass().isArray()) {
      List<Object> list = new ArrayList<>();
      for (int i = 0; i < Array.getLength(value); i++) {
        list.add(Array.get(value, i));
      }
      addAll(to, ValueTag.LIST, list, place, depth);
    } else {
      throw new TandemInvalidArgumentException(
          operation, place + " is a " + value.getClass().getName() + ", which " + refusal);
    }
  }

  private void addAll(NativeArguments to, int tag, Collection<?> elements, String place, int depth) {
    try (NativeArguments all = new NativeArguments()) {
      int count = 0;
      for (Object element : elements) {
        add(all, element, place + "[" + count++ + "]", depth + 1);
      }
      to.addNested(tag, all);
    }
  }

  private void addMap(NativeArguments to, Map<?, ?> map, String place, int depth) {
    try (NativeArguments all = new NativeArguments()) {
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        Object key = entry.getKey();
        if (!(key instanceof String || key instanceof Long || key instanceof Integer)) {
          throw new TandemInvalidArgumentException(
              operation, place + " has the key " + key + "; it must be a String, Long or Integer");
        }
        add(all, key, place, depth);
        add(all, entry.getValue(), place + "[" + key + "]", depth + 1);
      }
      to.addNested(ValueTag.DICT, all);
    }
  }

  /** The one result, which is taken out. */
  public static Object take(String operation, NativeResults result) {
    return new Values(operation, "", false).takeAll(result).get(0);
  }

  /** What comes from another worker. Strings that are no text are byte[]. */
  public static List<Object> takeCall(String operation, NativeResults results) {
    return new Values(operation, "", true).takeAll(results);
  }

  private Object text(NativeResults results, int index) {
    if (!ofCalls) {
      return results.string(index);
    }
    byte[] bytes = results.bytes(index);
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException noText) {
      return bytes;
    }
  }

  private List<Object> takeAll(NativeResults results) {
    List<Object> taken = new ArrayList<>();
    for (int i = 0; i < results.size(); i++) {
      taken.add(switch (results.tag(i)) {
        case ValueTag.NONE -> null;
        case ValueTag.TENSOR -> Natives.tensor(results.takeTensor(i));
        case ValueTag.BOOL -> results.flag(i);
        case ValueTag.INT -> results.integer(i);
        case ValueTag.DOUBLE -> results.real(i);
        case ValueTag.STRING -> text(results, i);
        case ValueTag.RREF -> Natives.rref(results.takeRref(i));
        case ValueTag.DTYPE -> DType.of(results.enumeration(i));
        case ValueTag.DEVICE -> device(results.device(i));
        case ValueTag.TUPLE -> new Tuple(elements(results, i));
        case ValueTag.LIST -> elements(results, i);
        case ValueTag.INT_LIST -> Arrays.stream(results.integers(i)).<Object>boxed().toList();
        case ValueTag.DOUBLE_LIST -> Arrays.stream(results.reals(i)).<Object>boxed().toList();
        case ValueTag.BOOL_LIST -> Arrays.stream(results.flags(i)).<Object>mapToObj(flag -> flag != 0).toList();
        case ValueTag.STRING_LIST -> List.<Object>of((Object[]) results.strings(i));
        case ValueTag.TENSOR_LIST -> tensors(results.tensors(i));
        case ValueTag.DICT -> map(elements(results, i));
        default ->
          throw new TandemUnsupportedException(
              operation, "this front end does not know values with tag " + results.tag(i));
      });
    }
    return taken;
  }

  private List<Object> elements(NativeResults results, int index) {
    try (NativeResults elements = results.takeElements(index)) {
      return takeAll(elements);
    }
  }

  private static List<Object> tensors(NativeTensor[] handles) {
    List<Object> tensors = new ArrayList<>();
    for (NativeTensor handle : handles) {
      if (handle.defined()) {
        tensors.add(Natives.tensor(handle));
      } else {
        tensors.add(null);
        handle.close();
      }
    }
    return tensors;
  }

  private static Map<Object, Object> map(List<Object> pairs) {
    Map<Object, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < pairs.size(); i += 2) {
      map.put(pairs.get(i), pairs.get(i + 1));
    }
    return map;
  }

  private static Device device(NativeDevice given) {
    try (given) {
      return Device.of(given.getType(), given.getIndex());
    }
  }
}
