package org.tandem;

import java.util.Arrays;
import java.util.List;
import org.tandem.internal.NativeArguments;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeOperator;
import org.tandem.internal.NativeResults;

/**
 * One overload of a LibTorch operator, by name. Look it up once; it may be used from any thread.
 *
 * <p>Arguments are Tensor, Boolean, Integer, Long, Float, Double, String, {@link DType}, {@link Device}, long[], int[],
 * double[], boolean[], String[], Tensor[], List of Tensor, null for None and {@link #DEFAULT}. Those missing at the end
 * take their defaults.
 */
public final class Operator {
  /** Stands for the schema's default of an argument. */
  public static final Object DEFAULT = new Object();

  /** The C ABI's memory formats, for arguments of that type. */
  public enum MemoryFormat {
    CONTIGUOUS,
    PRESERVE,
    CHANNELS_LAST,
    CHANNELS_LAST_3D
  }

  // Tags of results (tdm_value_tag).
  private static final int NONE = 0;
  private static final int TENSOR = 2;
  private static final int BOOL = 3;
  private static final int INT = 4;
  private static final int DOUBLE = 5;
  private static final int STRING = 7;
  private static final int DTYPE = 8;
  private static final int TENSOR_LIST = 12;
  private static final int INT_LIST = 14;
  private static final int DOUBLE_LIST = 15;

  private static final ThreadLocal<NativeArguments> ARGUMENTS = ThreadLocal.withInitial(NativeArguments::new);

  private final NativeOperator handle;

  private Operator(NativeOperator handle) {
    this.handle = handle;
  }

  /**
   * @param overload "" for none
   * @throws TandemNotFoundException this LibTorch lacks it
   */
  public static Operator find(String name, String overload) {
    NativeLibrary.load();
    return new Operator(NativeOperator.find(name, overload));
  }

  /** "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor". */
  public String schema() {
    return handle.schema();
  }

  /** The first result, a tensor. */
  public Tensor call(Object... arguments) {
    NativeArguments list = fill(arguments);
    try {
      return new Tensor(handle.callTensor(list));
    } finally {
      list.clear();
      java.lang.ref.Reference.reachabilityFence(arguments);
    }
  }

  /** All results: Tensor, Boolean, Long, Double, String, DType, Tensor[], long[], double[] or null. */
  public Object[] callAll(Object... arguments) {
    NativeArguments list = fill(arguments);
    try (NativeResults results = handle.call(list)) {
      return convert(results);
    } finally {
      list.clear();
      java.lang.ref.Reference.reachabilityFence(arguments);
    }
  }

  static Object[] convert(NativeResults results) {
    Object[] converted = new Object[(int) results.size()];
    for (int i = 0; i < converted.length; i++) {
      converted[i] = switch (results.tag(i)) {
        case NONE -> null;
        case TENSOR -> new Tensor(results.takeTensor(i));
        case BOOL -> results.flag(i);
        case INT -> results.integer(i);
        case DOUBLE -> results.real(i);
        case STRING -> results.string(i);
        case DTYPE -> DType.of(results.enumeration(i));
        case TENSOR_LIST -> Tensor.wrap(results.tensors(i));
        case INT_LIST -> results.integers(i);
        case DOUBLE_LIST -> results.reals(i);
        default -> throw new TandemUnsupportedException(
            "Operator.callAll", "this front end does not know results with tag " + results.tag(i));
      };
    }
    return converted;
  }

  private static NativeArguments fill(Object[] arguments) {
    NativeArguments list = ARGUMENTS.get();
    list.clear();
    for (Object argument : arguments) {
      add(list, argument);
    }
    return list;
  }

  private static void add(NativeArguments list, Object argument) {
    if (argument instanceof Tensor tensor) {
      list.add(tensor.nativeHandle());
    } else if (argument == null) {
      list.addNone();
    } else if (argument == DEFAULT) {
      list.addDefault();
    } else if (argument instanceof Long || argument instanceof Integer) {
      list.addInt(((Number) argument).longValue());
    } else if (argument instanceof Double || argument instanceof Float) {
      list.addDouble(((Number) argument).doubleValue());
    } else if (argument instanceof Boolean flag) {
      list.addBool(flag);
    } else if (argument instanceof long[] numbers) {
      list.addInts(numbers);
    } else if (argument instanceof int[] numbers) {
      list.addInts(Arrays.stream(numbers).asLongStream().toArray());
    } else if (argument instanceof double[] numbers) {
      list.addDoubles(numbers);
    } else if (argument instanceof boolean[] flags) {
      list.addBools(flags);
    } else if (argument instanceof DType dtype) {
      list.addDtype(dtype.number());
    } else if (argument instanceof Device device) {
      list.addDevice(device.type().number(), device.index());
    } else if (argument instanceof MemoryFormat format) {
      list.addMemoryFormat(format.ordinal());
    } else if (argument instanceof String text) {
      list.addString(text);
    } else if (argument instanceof String[] texts) {
      list.addStrings(texts);
    } else if (argument instanceof Tensor[] tensors) {
      list.addTensors(Tensor.unwrap(Arrays.asList(tensors)));
    } else if (argument instanceof List<?> tensors) {
      list.addTensors(Tensor.unwrap(tensors.stream().map(Tensor.class::cast).toList()));
    } else {
      throw new TandemInvalidArgumentException(
          "Operator.call", "an operator takes no " + argument.getClass().getName() + " as argument");
    }
  }
}
