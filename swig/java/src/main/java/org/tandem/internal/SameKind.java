package org.tandem.internal;

import java.lang.reflect.Modifier;
import java.util.AbstractMap.SimpleEntry;
import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.Vector;

/**
 * Copies of collections, maps and entries with other elements. Those of java.util's public classes, and of classes that
 * extend these, are of the same class, order and comparator. What the JDK makes of classes without a name, as List.of(),
 * Arrays.asList() and views do, becomes an unmodifiable copy in the same order. Null: there is no way to make another.
 */
@SuppressWarnings("unchecked") // elements have the types of those that they replace
final class SameKind {
  private SameKind() {}

  /** Of the JDK's own. */
  static boolean isOfJdk(Class<?> type) {
    ClassLoader loader = type.getClassLoader();
    return loader == null || loader == ClassLoader.getPlatformClassLoader();
  }

  private static boolean isNameless(Object value) {
    return isOfJdk(value.getClass()) && !Modifier.isPublic(value.getClass().getModifiers());
  }

  /** {@code elements}: in the order of the old ones. */
  static Collection<Object> of(Collection<?> old, Object[] elements) {
    List<Object> added = Arrays.asList(elements);
    Collection<Object> copy = (Collection<Object>) cloned(old);
    if (copy != null) {
      copy.clear();
      copy.addAll(added);
      return copy;
    }
    if (!isNameless(old)) {
      return null;
    }
    if (old instanceof SortedSet<?> sorted) {
      SortedSet<Object> set = new TreeSet<>(((SortedSet<Object>) sorted).comparator());
      set.addAll(added);
      return Collections.unmodifiableSortedSet(set);
    }
    if (old instanceof Set<?>) {
      return Collections.unmodifiableSet(new LinkedHashSet<>(added));
    }
    List<Object> list = Collections.unmodifiableList(new ArrayList<>(added));
    return old instanceof List<?> ? list : Collections.unmodifiableCollection(list);
  }

  private static Object cloned(Collection<?> old) {
    if (old instanceof ArrayList<?> list) {
      return list.clone();
    } else if (old instanceof LinkedList<?> list) {
      return list.clone();
    } else if (old instanceof Vector<?> list) {
      return list.clone();
    } else if (old instanceof ArrayDeque<?> deque) {
      return deque.clone();
    } else if (old instanceof HashSet<?> set) {
      return set.clone();
    } else if (old instanceof TreeSet<?> set) {
      return set.clone();
    }
    return null;
  }

  /** {@code keys}: the old ones, in their order; {@code values}: in the same order. */
  static Map<Object, Object> of(Map<?, ?> old, Object[] keys, Object[] values) {
    Map<Object, Object> copy = (Map<Object, Object>) cloned(old);
    boolean nameless = copy == null && isNameless(old);
    if (nameless) {
      copy = old instanceof SortedMap<?, ?> sorted ? new TreeMap<>(((SortedMap<Object, Object>) sorted).comparator())
                                                   : new LinkedHashMap<>();
    }
    for (int i = 0; copy != null && i < keys.length; i++) {
      copy.put(keys[i], values[i]);
    }
    if (!nameless) {
      return copy;
    }
    return copy instanceof NavigableMap<Object, Object> sorted ? Collections.unmodifiableNavigableMap(sorted)
                                                               : Collections.unmodifiableMap(copy);
  }

  private static Object cloned(Map<?, ?> old) {
    if (old instanceof HashMap<?, ?> map) {
      return map.clone();
    } else if (old instanceof TreeMap<?, ?> map) {
      return map.clone();
    } else if (old instanceof EnumMap<?, ?> map) {
      return map.clone();
    } else if (old instanceof IdentityHashMap<?, ?> map) {
      return map.clone();
    }
    return null;
  }

  static Map.Entry<Object, Object> of(Map.Entry<?, ?> old, Object key, Object value) {
    if (old.getClass() == SimpleEntry.class) {
      return new SimpleEntry<>(key, value);
    }
    return old.getClass() == SimpleImmutableEntry.class || isNameless(old) ? new SimpleImmutableEntry<>(key, value)
                                                                          : null;
  }
}
