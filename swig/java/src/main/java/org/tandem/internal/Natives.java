package org.tandem.internal;

import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.tandem.Options;
import org.tandem.Tensor;
import org.tandem.data.Dataset;
import org.tandem.dist.ProcessGroup;
import org.tandem.dist.Store;
import org.tandem.rpc.ParameterClient;
import org.tandem.rpc.RRef;

/**
 * The native objects of public classes, for this library's own packages. Each such class provides access to its own as it
 * is initialised, so that its public methods need not.
 */
public final class Natives {
  /** How to get at the native object of a {@code T}, or at a new one. */
  @FunctionalInterface
  public interface Access<T, N> {
    /** @throws org.tandem.TandemClosedException it was closed */
    N of(T object);
  }

  private static Access<NativeTensor, Tensor> newTensor;
  private static Access<Tensor, NativeTensor> tensor;
  private static Access<Options, NativeOptions> options;
  private static Access<Options, Map<String, Object>> optionValues;
  private static Access<Store, NativeStore> store;
  private static Access<Dataset, NativeDataset> dataset;
  private static Access<NativeProcessGroup, ProcessGroup> newGroup;

  private static Access<NativeRref, RRef> newRref;
  private static Access<RRef, NativeRref> rref;
  private static Access<ParameterClient, NativeParameterClient> parameterClient;

  private Natives() {}

  public static void provideTensors(Access<Tensor, NativeTensor> access, Access<NativeTensor, Tensor> constructor) {
    newTensor = constructor;
    tensor = access;
  }

  public static void provideOptions(Access<Options, NativeOptions> access, Access<Options, Map<String, Object>> values) {
    optionValues = values;
    options = access;
  }

  public static void provideStores(Access<Store, NativeStore> access) {
    store = access;
  }

  public static void provideDatasets(Access<Dataset, NativeDataset> access) {
    dataset = access;
  }

  public static void provideRrefs(Access<RRef, NativeRref> access, Access<NativeRref, RRef> constructor) {
    newRref = constructor;
    rref = access;
  }

  public static void provideParameterClients(Access<ParameterClient, NativeParameterClient> access) {
    parameterClient = access;
  }

  public static void provideGroups(Access<NativeProcessGroup, ProcessGroup> constructor) {
    newGroup = constructor;
  }

  /** This class initialises no other as it is initialised itself: two threads could wait for each other. */
  private static void initialize(Class<?> type) {
    try {
      MethodHandles.lookup().ensureInitialized(type);
    } catch (IllegalAccessException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Takes over {@code handle}. */
  public static Tensor tensor(NativeTensor handle) {
    if (newTensor == null) {
      initialize(Tensor.class);
    }
    return newTensor.of(handle);
  }

  public static Tensor[] tensors(NativeTensor[] handles) {
    return Arrays.stream(handles).map(Natives::tensor).toArray(Tensor[]::new);
  }

  public static NativeTensor of(Tensor object) {
    if (tensor == null) {
      initialize(Tensor.class);
    }
    return tensor.of(object);
  }

  /** Null for null elements. */
  public static NativeTensor[] of(Iterable<Tensor> objects) {
    ArrayList<NativeTensor> handles = new ArrayList<>();
    for (Tensor object : objects) {
      handles.add(object == null ? null : of(object));
    }
    return handles.toArray(NativeTensor[]::new);
  }

  /** The tensors of a list by their names, in its order. */
  public static Map<String, Tensor> named(NativeNamedTensors list) {
    Map<String, Tensor> named = new LinkedHashMap<>();
    String[] names = list.names();
    NativeTensor[] tensors = list.tensors();
    for (int i = 0; i < names.length; i++) {
      named.put(names[i], tensor(tensors[i]));
    }
    return named;
  }

  /** A new one, which the caller closes. */
  public static NativeOptions of(Options object) {
    if (options == null) {
      initialize(Options.class);
    }
    return options.of(object);
  }

  /** A copy of what was set. */
  public static Map<String, Object> values(Options object) {
    if (options == null) {
      initialize(Options.class);
    }
    return optionValues.of(object);
  }

  public static NativeStore of(Store object) {
    if (store == null) {
      initialize(Store.class);
    }
    return store.of(object);
  }

  public static NativeDataset of(Dataset object) {
    if (dataset == null) {
      initialize(Dataset.class);
    }
    return dataset.of(object);
  }

  /** Takes over {@code handle}. */
  public static RRef rref(NativeRref handle) {
    if (newRref == null) {
      initialize(RRef.class);
    }
    return newRref.of(handle);
  }

  public static NativeRref of(RRef object) {
    if (rref == null) {
      initialize(RRef.class);
    }
    return rref.of(object);
  }

  public static NativeParameterClient of(ParameterClient object) {
    if (parameterClient == null) {
      initialize(ParameterClient.class);
    }
    return parameterClient.of(object);
  }

  /** Takes over {@code handle}. */
  public static ProcessGroup group(NativeProcessGroup handle) {
    if (newGroup == null) {
      initialize(ProcessGroup.class);
    }
    return newGroup.of(handle);
  }
}
