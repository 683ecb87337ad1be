package org.tandem;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.tandem.internal.NativeArguments;
import org.tandem.internal.NativeHandle;
import org.tandem.internal.NativeTensor;

/**
 * The arguments of one call of an operator; their tensors stay open until it ends. Code of the program that runs
 * meanwhile on the same thread, a list that computes its tensors for one, may call operators, too.
 */
final class OperatorCall {
  /** A thread's calls: those that began and have not ended, and behind them some to use again. */
  private static final class Calls {
    final List<OperatorCall> all = new ArrayList<>();
    int open;
  }

  private static final ThreadLocal<Calls> CALLS = ThreadLocal.withInitial(Calls::new);
  private static final int MOST_KEPT = 64;

  private final Calls calls;
  private final NativeArguments list = new NativeArguments();
  private NativeHandle[] pinned = new NativeHandle[4];
  private int pinnedCount;

  private OperatorCall(Calls calls) {
    this.calls = calls;
  }

  /** The caller ends it, whatever happens, before those that began earlier. */
  static OperatorCall begin() {
    Calls calls = CALLS.get();
    if (calls.open == calls.all.size()) {
      calls.all.add(new OperatorCall(calls));
    }
    return calls.all.get(calls.open++);
  }

  void end() {
    for (int i = 0; i < pinnedCount; i++) {
      NativeHandle.unpin(pinned[i]);
      pinned[i] = null;
    }
    pinnedCount = 0;
    calls.open--;
    if (pinned.length > MOST_KEPT) {
      pinned = new NativeHandle[MOST_KEPT];
    }
    list.clear();
  }

  NativeArguments fill(Object[] arguments) {
    for (Object argument : arguments) {
      add(argument);
    }
    return list;
  }

  private NativeTensor pin(Tensor tensor) {
    if (tensor == null) {
      return null;
    }
    NativeTensor handle = tensor.nativeHandle();
    if (pinnedCount == pinned.length) {
      pinned = Arrays.copyOf(pinned, 2 * pinnedCount);
    }
    NativeHandle.pin(handle);
    pinned[pinnedCount++] = handle;
    return handle;
  }

  private NativeTensor[] pin(List<?> tensors) {
    List<NativeTensor> handles = new ArrayList<>();
    for (Object tensor : tensors) {
      if (tensor != null && !(tensor instanceof Tensor)) {
        throw new TandemInvalidArgumentException(
            "Operator.call", "an operator takes lists of Tensor, not of " + tensor.getClass().getName());
      }
      handles.add(pin((Tensor) tensor));
    }
    return handles.toArray(NativeTensor[]::new);
  }

  private void add(Object argument) {
    if (argument instanceof Tensor tensor) {
      list.add(pin(tensor));
    } else if (argument == null) {
      list.addNone();
    } else if (argument == Operator.DEFAULT) {
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
    } else if (argument instanceof Operator.MemoryFormat format) {
      list.addMemoryFormat(format.number());
    } else if (argument instanceof String text) {
      list.addString(text);
    } else if (argument instanceof String[] texts) {
      list.addStrings(texts);
    } else if (argument instanceof Tensor[] tensors) {
      list.addTensors(pin(Arrays.asList(tensors)));
    } else if (argument instanceof List<?> tensors) {
      list.addTensors(pin(tensors));
    } else {
      throw new TandemInvalidArgumentException(
          "Operator.call", "an operator takes no " + argument.getClass().getName() + " as argument");
    }
  }
}
