package org.tandem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.AbstractList;
import java.util.AbstractMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.tandem.data.Dataset;
import org.tandem.data.Loader;
import org.tandem.internal.Nested;
import org.tandem.nn.Linear;

/** Where DistributedDataParallel finds tensors, and what becomes of what they are in. */
class NestedTest {
  private final Scope scope = Scope.open();
  private final Tensor tensor = Tensor.scalar(1);

  @AfterEach
  void close() {
    scope.close();
  }

  private static class Base {
    Object inBase;
  }

  private static final class Derived extends Base {
    String name = "a";
  }

  private static final class Fields {
    List<Tensor> list;
    Object[] array;
    Optional<Tensor> optional;
    Map<Tensor, String> keys;
    Map.Entry<String, Tensor> entry;
    AtomicReference<Object> reference;
    Iterator<Tensor> iterator;
    Fields inner;
    Supplier<Object> supplier;
  }

  private record Pair(Object left, Object right) {}

  private static Fields fields(java.util.function.Consumer<Fields> set) {
    Fields fields = new Fields();
    set.accept(fields);
    return fields;
  }

  private void assertRefused(Object value, String where) {
    TandemInvalidArgumentException error =
        assertThrows(TandemInvalidArgumentException.class, () -> Nested.tensorsIn(value, "test"), where);
    assertTrue(error.getMessage().contains(where), error.getMessage());
  }

  @Test
  void tensorsThatAreHiddenInClassesAreRefused() {
    Derived derived = new Derived();
    derived.inBase = tensor;
    assertRefused(derived, "field 'inBase' of org.tandem.NestedTest$Base holds a tensor");
    String of = " of org.tandem.NestedTest$Fields ";
    assertRefused(fields(f -> f.list = List.of(tensor)), "field 'list'" + of + "holds");
    assertRefused(fields(f -> f.array = new Object[] {List.of(tensor)}), "field 'array'" + of + "holds");
    assertRefused(fields(f -> f.optional = Optional.of(tensor)), "field 'optional'" + of + "holds");
    assertRefused(fields(f -> f.keys = Map.of(tensor, "a")), "field 'keys'" + of + "holds");
    assertRefused(fields(f -> f.entry = Map.entry("a", tensor)), "field 'entry'" + of + "holds");
    assertRefused(fields(f -> f.reference = new AtomicReference<>(tensor)), "field 'reference'" + of + "holds");
    assertRefused(fields(f -> f.iterator = List.of(tensor).iterator()), "field 'iterator'" + of + "may hold");
    assertRefused(fields(f -> f.inner = fields(i -> i.list = List.of(tensor))), "field 'list'" + of + "holds");
    assertRefused(fields(f -> f.reference = new AtomicReference<>(new Pair(1, tensor))), "field 'right' of");
    assertRefused(new Pair("a", derived), "field 'inBase'");
    Tensor captured = tensor;
    assertRefused(fields(f -> f.supplier = () -> captured), "NestedTest$$Lambda");
    try (Dataset dataset = Dataset.ofTensors(List.of(Tensor.ones(DType.FLOAT32, 2, 1)));
        Loader loader = new Loader(dataset, new Loader.Options());
        Loader.Batch batch = loader.epoch(0).iterator().next()) {
      assertRefused(batch, "field 'tensors' of org.tandem.data.Loader$Batch");
    }
  }

  @Test
  void tensorsInHoldersOfTheJdkAreRefused() {
    assertRefused(new AtomicReference<>(tensor), "a java.util.concurrent.atomic.AtomicReference holds");
    assertRefused(new WeakReference<>(tensor), "WeakReference holds");
    assertRefused(List.of(List.of(tensor).iterator()), "may hold tensors");
    assertRefused(Stream.of(tensor), "may hold tensors");
    assertRefused(CompletableFuture.completedFuture(tensor), "may hold tensors");
    assertRefused(Map.of(tensor, "a"), "a key of a map holds");
  }

  private enum Mode { FAST }

  /** Of a tree that refers to its parents, longer than a stack of calls could be. */
  private static final class Node {
    final List<Node> children = new ArrayList<>();
    Node parent;
    Function<Tensor, Tensor> activation = x -> x;
    Linear module;
    double[] numbers = {1, 2};
  }

  @Test
  void whatHoldsNoTensorsIsHandedOn() {
    Node root = new Node();
    try (Linear module = new Linear(1, 1)) {
      Node last = root;
      for (int i = 0; i < 20000; i++) {
        Node child = new Node();
        child.parent = last;
        child.module = module;
        last.children.add(child);
        last = child;
      }
      NestedTest test = this;
      Supplier<Object> ofThis = () -> test.tensor;
      for (Object value : new Object[] {"a", 1.5, Mode.FAST, LocalDate.of(2020, 1, 1), Path.of("a"), new int[] {1},
               new AtomicReference<>("a"), Thread.currentThread(), Tensor.class, root, module, new Fields(), ofThis,
               new StringBuilder(), Optional.empty(), Map.of("a", 1), new Pair(1, null)}) {
        assertEquals(List.of(), Nested.tensorsIn(value, "test"));
        assertSame(value, Nested.withTensors(value, new Tensor[0], "test"));
      }
    }
  }

  /** Another handle of it. */
  private static Tensor sameAs(Tensor tensor) {
    Tensor same = tensor.contiguous();
    assertTrue(same != tensor && same.isSame(tensor));
    return same;
  }

  private Object replaced(Object value) {
    return Nested.withTensors(value, new Tensor[] {Tensor.scalar(2)}, "test");
  }

  /** With the tensor between others. */
  private <C extends java.util.Collection<Object>> C filled(C empty) {
    empty.addAll(List.of("z", tensor, "a"));
    return empty;
  }

  private static double first(Object element) {
    return ((Tensor) element).item();
  }

  @Test
  void listsAndSetsKeepTheirKind() {
    for (java.util.Collection<Object> value : List.of(filled(new ArrayList<>()), filled(new LinkedList<>()),
             filled(new ArrayDeque<>()), filled(new LinkedHashSet<>()), filled(new ArrayList<>() {}))) {
      java.util.Collection<?> copy = (java.util.Collection<?>) replaced(value);
      assertEquals(value.getClass(), copy.getClass());
      Object[] elements = copy.toArray();
      assertEquals("z", elements[0]);
      assertEquals(2, first(elements[1]));
      assertEquals("a", elements[2]);
      assertSame(tensor, value.toArray()[1]);
    }
    assertEquals(HashSet.class, replaced(filled(new HashSet<>())).getClass());
    Comparator<Object> order = Comparator.comparing(Object::toString, Comparator.reverseOrder());
    TreeSet<?> sorted = (TreeSet<?>) replaced(filled(new TreeSet<>(order)));
    assertSame(order, sorted.comparator());
    assertEquals("z", sorted.first());
    for (List<Object> value : List.of(List.<Object>of("z", tensor), Arrays.asList("z", tensor),
             Collections.unmodifiableList(filled(new ArrayList<>())), filled(new ArrayList<>()).subList(0, 2))) {
      @SuppressWarnings("unchecked")
      List<Object> copy = (List<Object>) replaced(value);
      assertEquals(2, first(copy.get(1)));
      assertThrows(UnsupportedOperationException.class, () -> copy.add("b"));
    }
    Set<?> set = (Set<?>) replaced(Set.of(tensor));
    assertEquals(2, first(set.iterator().next()));
    assertThrows(UnsupportedOperationException.class, set::clear);
  }

  @Test
  void mapsKeepTheirKind() {
    LinkedHashMap<Object, Object> byUse = new LinkedHashMap<>(16, 0.75f, true);
    TreeMap<Object, Object> downward = new TreeMap<>(Collections.reverseOrder());
    for (Map<Object, Object> map : List.of(byUse, downward, new HashMap<>())) {
      map.put("c", 1);
      map.put("b", tensor);
      map.put("a", 2);
    }
    byUse.get("c");
    LinkedHashMap<?, ?> use = (LinkedHashMap<?, ?>) replaced(byUse);
    assertEquals(List.of("b", "a", "c"), List.copyOf(use.keySet()));
    use.get("b");
    assertEquals(List.of("a", "c", "b"), List.copyOf(use.keySet()));
    TreeMap<?, ?> tree = (TreeMap<?, ?>) replaced(downward);
    assertSame(downward.comparator(), tree.comparator());
    assertEquals(2, first(tree.get("b")));
    assertEquals(HashMap.class, replaced(new HashMap<>(downward)).getClass());
    Map<?, ?> view = (Map<?, ?>) replaced(Collections.unmodifiableSortedMap(downward));
    assertEquals(List.of("c", "b", "a"), List.copyOf(view.keySet()));
    assertThrows(UnsupportedOperationException.class, view::clear);
    assertThrows(UnsupportedOperationException.class, ((Map<?, ?>) replaced(Map.of("b", tensor)))::clear);
  }

  @Test
  void entriesAndArraysKeepTheirKind() {
    assertEquals(2, first(((Map.Entry<?, ?>) replaced(Map.entry(tensor, "a"))).getKey()));
    Map.Entry<?, ?> entry = (Map.Entry<?, ?>) replaced(new AbstractMap.SimpleEntry<>("a", tensor));
    assertEquals(AbstractMap.SimpleEntry.class, entry.getClass());
    assertEquals(2, first(entry.getValue()));
    Tensor[][] array = (Tensor[][]) replaced(new Tensor[][] {{null, tensor}, {}});
    assertEquals(2, first(array[0][1]));
  }

  private static final class Own extends AbstractList<Object> {
    private final Object element;

    Own(Object element) {
      this.element = element;
    }

    @Override
    public Object get(int index) {
      return element;
    }

    @Override
    public int size() {
      return 1;
    }
  }

  @Test
  void kindsThatCannotBeMadeAreRefusedWhereATensorIsReplaced() {
    for (Object value : List.of(new Own(tensor), new ConcurrentHashMap<>(Map.of("a", tensor)))) {
      TandemInvalidArgumentException error =
          assertThrows(TandemInvalidArgumentException.class, () -> replaced(value));
      assertTrue(error.getMessage().contains(value.getClass().getName()), error.getMessage());
      assertSame(value, Nested.withTensors(value, new Tensor[] {sameAs(tensor)}, "test"));
    }
  }

  @Test
  void sameTensorsAreHandedOnInTheSameObjects() {
    List<Object> inner = new ArrayList<>(List.of(tensor));
    Tensor second = Tensor.scalar(3);
    Pair pair = new Pair(Map.of("a", inner), new Object[] {second});
    List<Tensor> found = Nested.tensorsIn(pair, "test");
    assertEquals(List.of(tensor, second), found);
    Tensor[] handles = {sameAs(tensor), Tensor.scalar(4)};
    Pair copy = Nested.withTensors(pair, handles, "test");
    assertSame(pair.left(), copy.left());
    assertTrue(handles[0].isClosed());
    assertEquals(4, first(((Object[]) copy.right())[0]));
    assertSame(second, ((Object[]) pair.right())[0]);
    assertSame(pair, Nested.withTensors(pair, new Tensor[] {sameAs(tensor), sameAs(second)}, "test"));
  }
}
