package org.tandem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.tandem.data.OnIoError;
import org.tandem.data.RecordIOWriter;
import org.tandem.data.Tail;
import org.tandem.dist.ReduceOp;

/** What the jar shows to programs, and the numbers with which its constants cross to the C ABI. */
class ApiTest {
  private static final String INTERNAL = "org.tandem.internal";

  /** Public classes of the jar, but those of the internal package. */
  private static List<Class<?>> publicClasses() throws Exception {
    List<Class<?>> classes = new ArrayList<>();
    Path jar = Path.of(Tensor.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    try (JarFile file = new JarFile(jar.toFile())) {
      for (String entry : (Iterable<String>) file.stream().map(e -> e.getName())::iterator) {
        if (entry.endsWith(".class") && !entry.startsWith("org/tandem/internal/")) {
          String name = entry.substring(0, entry.length() - ".class".length()).replace('/', '.');
          Class<?> type = Class.forName(name, false, Tensor.class.getClassLoader());
          if (isVisible(type)) {
            classes.add(type);
          }
        }
      }
    }
    return classes;
  }

  private static boolean isVisible(Class<?> type) {
    for (Class<?> around = type; around != null; around = around.getDeclaringClass()) {
      if (!isVisible(around.getModifiers()) || around.isAnonymousClass() || around.isLocalClass()) {
        return false;
      }
    }
    return true;
  }

  private static boolean isVisible(int modifiers) {
    return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
  }

  private static Stream<Type> boundsOf(TypeVariable<?>[] variables) {
    return Arrays.stream(variables).flatMap(variable -> Arrays.stream(variable.getBounds()));
  }

  private static Stream<Type> typesOf(Member member) {
    if (member instanceof Field field) {
      return Stream.of(field.getGenericType());
    }
    if (member instanceof Method method) {
      return Stream.of(Stream.of(method.getGenericReturnType()), Arrays.stream(method.getGenericParameterTypes()),
          Arrays.stream(method.getGenericExceptionTypes()), boundsOf(method.getTypeParameters())).flatMap(s -> s);
    }
    Constructor<?> constructor = (Constructor<?>) member;
    return Stream.concat(Arrays.stream(constructor.getGenericParameterTypes()),
        Arrays.stream(constructor.getGenericExceptionTypes()));
  }

  @Test
  void noPublicSignatureHasATypeOfTheInternalPackage() throws Exception {
    List<String> found = new ArrayList<>();
    List<Class<?>> classes = publicClasses();
    assertTrue(classes.contains(Tensor.class) && classes.contains(ReduceOp.class), () -> classes.toString());
    for (Class<?> type : classes) {
      Stream.of(Stream.of(type.getGenericSuperclass()), Arrays.stream(type.getGenericInterfaces()),
              boundsOf(type.getTypeParameters())).flatMap(s -> s)
          .filter(used -> String.valueOf(used).contains(INTERNAL)).forEach(used -> found.add(type + ": " + used));
      Stream.<Member>of(type.getDeclaredFields()).forEach(member -> look(member, found));
      Stream.<Member>of(type.getDeclaredMethods()).forEach(member -> look(member, found));
      Stream.<Member>of(type.getDeclaredConstructors()).forEach(member -> look(member, found));
    }
    assertEquals(List.of(), found);
  }

  private static void look(Member member, List<String> found) {
    if (isVisible(member.getModifiers()) && !member.isSynthetic()
        && typesOf(member).anyMatch(type -> type.getTypeName().contains(INTERNAL))) {
      found.add(member.toString());
    }
  }

  /** Names and numbers of the header's constants with that prefix. */
  private static Map<String, Integer> constants(String prefix) throws Exception {
    String header = Files.readString(
        Path.of(System.getProperty("tandem.source"), "capi/include/tandem/tandem.h"));
    Map<String, Integer> constants = new TreeMap<>();
    Matcher constant = Pattern.compile("\\b" + prefix + "([A-Z0-9_]+) = (\\d+)").matcher(header);
    while (constant.find()) {
      constants.put(constant.group(1), Integer.parseInt(constant.group(2)));
    }
    return constants;
  }

  private static void assertNumbers(Class<?> type, String prefix) throws Exception {
    Map<String, Integer> constants = constants(prefix);
    Method number = type.getDeclaredMethod("number");
    number.setAccessible(true);
    for (Object value : type.getEnumConstants()) {
      assertEquals(constants.get(((Enum<?>) value).name()), number.invoke(value), type + "." + value);
    }
  }

  @Test
  void constantsHaveTheHeadersNumbers() throws Exception {
    assertNumbers(DType.class, "TDM_DTYPE_");
    assertNumbers(Device.Type.class, "TDM_DEVICE_");
    assertNumbers(ErrorCode.class, "TDM_ERROR_");
    assertNumbers(ReduceOp.class, "TDM_REDUCE_OP_");
    assertNumbers(Tail.class, "TDM_TAIL_");
    assertNumbers(OnIoError.class, "TDM_ON_IO_ERROR_");
    assertNumbers(RecordIOWriter.Compressor.class, "TDM_COMPRESSOR_");
    assertNumbers(Operator.MemoryFormat.class, "TDM_MEMORY_FORMAT_");
    assertNumbers(Tandem.LoadDevice.class, "TDM_LOAD_DEVICE_");
    assertNumbers(Class.forName("org.tandem.elastic.Next"), "TDM_ELASTIC_NEXT_");
  }

  @Test
  void noConstantCrossesByItsPlaceInItsEnum() throws Exception {
    List<String> found = new ArrayList<>();
    try (Stream<Path> files = Files.walk(Path.of(System.getProperty("tandem.source"), "swig/java/src"))) {
      for (Path file : (Iterable<Path>) files.filter(path -> path.toString().endsWith(".java"))::iterator) {
        if (Files.readString(file).contains("ordinal()")) {
          found.add(file.toString());
        }
      }
    }
    assertEquals(List.of(), found);
  }
}
