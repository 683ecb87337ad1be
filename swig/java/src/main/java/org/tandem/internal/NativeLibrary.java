package org.tandem.internal;

import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.tandem.TandemLibraryException;

/** Finds and loads libtandem_jni.so, and sees to it that its threads have ended before the process does. */
public final class NativeLibrary {
  private static final String NAME = "libtandem_jni.so";
  private static final long SHUTDOWN_MILLIS = 10_000;
  private static final Set<Runnable> BEFORE_SHUTDOWN = ConcurrentHashMap.newKeySet();
  private static boolean loaded;

  private NativeLibrary() {}

  /**
   * Loads the library unless it is.
   *
   * @throws TandemLibraryException when it is in none of the places where it is looked for, or a relative path is given
   */
  public static synchronized void load() {
    if (loaded) {
      return;
    }
    List<Path> places = places();
    Path found = places.stream().filter(Files::isRegularFile).findFirst().orElseThrow(() -> missing(places));
    try {
      System.load(found.toAbsolutePath().toString());
    } catch (UnsatisfiedLinkError error) {
      throw new TandemLibraryException("load", "cannot load " + found + ": " + error.getMessage());
    }
    loaded = true;
    Runtime.getRuntime().addShutdownHook(new Thread(NativeLibrary::leave, "tandem-shutdown"));
  }

  /** See {@link org.tandem.Tandem#shutdown}. */
  public static boolean shutdown(long timeoutMillis) {
    Upcall.end();
    return TandemNative.shutdown(timeoutMillis);
  }

  /** Has {@code action} run when the program ends, before that ends native calls; it sees to it that it returns. */
  public static void beforeShutdown(Runnable action) {
    BEFORE_SHUTDOWN.add(action);
  }

  public static void notBeforeShutdown(Runnable action) {
    BEFORE_SHUTDOWN.remove(action);
  }

  private static void leave() {
    BEFORE_SHUTDOWN.forEach(NativeLibrary::attempt);
    attempt(() -> {
      if (!shutdown(SHUTDOWN_MILLIS)) {
        System.err.println("tandem: a native call still runs while the process ends");
      }
    });
  }

  private static void attempt(Runnable action) {
    try {
      action.run();
    } catch (Throwable error) { // such as a class that cannot be loaded any more: what comes after it is to run
      System.err.println("tandem: " + error);
    }
  }

  /**
   * In order: the property, the environment, beside the jar, lib/ of the prefix whose java/ the jar is in, and Java's
   * library path. Other folders above the jar's may be anybody's.
   */
  private static List<Path> places() {
    List<Path> places = new ArrayList<>();
    String property = System.getProperty("org.tandem.library");
    if (property != null && !property.isEmpty()) {
      Path path = absolute("the system property org.tandem.library", property);
      places.add(Files.isDirectory(path) ? path.resolve(NAME) : path);
      return places; // who names a place means that one
    }
    String environment = System.getenv("TANDEM_LIBRARY");
    if (environment != null && !environment.isEmpty()) {
      Path path = absolute("TANDEM_LIBRARY", environment);
      places.add(Files.isDirectory(path) ? path.resolve(NAME) : path.resolveSibling(NAME));
      return places;
    }
    Path jar = jar();
    if (jar != null) {
      places.add(jar.resolveSibling(NAME));
      // share/java/tandem.jar and java/program/program.jar beside lib/.
      Path folder = jar.getParent();
      Path above = folder == null ? null : folder.getParent();
      if (above != null && (folder.endsWith("java") || above.endsWith("java"))) {
        places.add(above.resolveSibling("lib").resolve(NAME));
      }
    }
    for (String folder : System.getProperty("java.library.path", "").split(File.pathSeparator)) {
      if (!folder.isEmpty() && Path.of(folder).isAbsolute()) {
        places.add(Path.of(folder, NAME));
      }
    }
    return places;
  }

  private static Path absolute(String source, String text) {
    Path path = Path.of(text);
    if (!path.isAbsolute()) {
      throw new TandemLibraryException("load", source + " is '" + text + "', a relative path, which means another file"
          + " in another working directory; give an absolute one");
    }
    return path;
  }

  private static Path jar() {
    CodeSource source = NativeLibrary.class.getProtectionDomain().getCodeSource();
    try {
      return source == null || source.getLocation() == null ? null : Path.of(source.getLocation().toURI());
    } catch (URISyntaxException | IllegalArgumentException unusual) {
      return null;
    }
  }

  private static TandemLibraryException missing(List<Path> places) {
    StringBuilder text = new StringBuilder("cannot find ").append(NAME).append("; looked at");
    places.forEach(place -> text.append(' ').append(place));
    return new TandemLibraryException("load",
        text.append("; build Tandem, or set TANDEM_LIBRARY to libtandem.so beside it").toString());
  }
}
