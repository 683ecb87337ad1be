package org.tandem;

import java.util.Arrays;
import java.util.Map;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeOperator;
import org.tandem.internal.NativeResults;
import org.tandem.internal.Natives;
import org.tandem.internal.ValueTag;

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

  /** For arguments of that type. */
  public enum MemoryFormat {
    CONTIGUOUS(0),
    PRESERVE(1),
    CHANNELS_LAST(2),
    CHANNELS_LAST_3D(3);

    private final int number;

    MemoryFormat(int number) {
      this.number = number;
    }

    /** In the C ABI. */
    int number() {
      return number;
    }
  }

  private final NativeOperator handle;
  private volatile String[] names;

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
    OperatorCall call = OperatorCall.begin();
    try {
      return new Tensor(handle.callTensor(call.fill(arguments)));
    } finally {
      call.end();
    }
  }

  /**
   * The first result, a tensor, with the arguments after {@code given} by their names in the {@link #schema()}: {@code
   * interpolate.callNamed(new Options().set("mode", "bilinear"), x)}. Those that are not set take their defaults.
   */
  public Tensor callNamed(Options options, Object... given) {
    return call(placed(options, given));
  }

  /** All results of {@link #callNamed}. */
  public Object[] callAllNamed(Options options, Object... given) {
    return callAll(placed(options, given));
  }

  private Object[] placed(Options options, Object[] given) {
    String[] names = argumentNames();
    Map<String, Object> left = options.values();
    Object[] arguments = Arrays.copyOf(given, names.length);
    for (int i = given.length; i < names.length; i++) {
      arguments[i] = left.containsKey(names[i]) ? left.remove(names[i]) : DEFAULT;
    }
    if (!left.isEmpty()) {
      throw new TandemInvalidArgumentException("Operator.callNamed",
          "there is no option '" + left.keySet().iterator().next() + "'; the options of " + schema() + " are "
              + String.join(", ", Arrays.asList(names).subList(given.length, names.length)));
    }
    return arguments;
  }

  private String[] argumentNames() {
    String[] known = names;
    if (known == null) {
      // The last word of each argument, before its default: "bool? align_corners=None".
      String list = schema().substring(schema().indexOf('(') + 1, schema().lastIndexOf(") -> "));
      known = Arrays.stream(list.split(", (?![^(\\[]*[)\\]])")).filter(one -> !one.equals("*"))
          .map(one -> one.replaceFirst("=.*", "").replaceFirst(".* ", "")).toArray(String[]::new);
      names = known;
    }
    return known;
  }

  /** All results: Tensor, Boolean, Long, Double, String, DType, Tensor[], long[], double[] or null. */
  public Object[] callAll(Object... arguments) {
    OperatorCall call = OperatorCall.begin();
    try (NativeResults results = handle.call(call.fill(arguments))) {
      return convert(results);
    } finally {
      call.end();
    }
  }

  static Object[] convert(NativeResults results) {
    Object[] converted = new Object[(int) results.size()];
    for (int i = 0; i < converted.length; i++) {
      converted[i] = switch (results.tag(i)) {
        case ValueTag.NONE -> null;
        case ValueTag.TENSOR -> new Tensor(results.takeTensor(i));
        case ValueTag.BOOL -> results.flag(i);
        case ValueTag.INT -> results.integer(i);
        case ValueTag.DOUBLE -> results.real(i);
        case ValueTag.STRING -> results.string(i);
        case ValueTag.DTYPE -> DType.of(results.enumeration(i));
        case ValueTag.TENSOR_LIST -> Natives.tensors(results.tensors(i));
        case ValueTag.INT_LIST -> results.integers(i);
        case ValueTag.DOUBLE_LIST -> results.reals(i);
        default -> throw new TandemUnsupportedException(
            "Operator.callAll", "this front end does not know results with tag " + results.tag(i));
      };
    }
    return converted;
  }
}
