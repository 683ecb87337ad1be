package spirals;

import java.nio.file.Files;
import java.nio.file.Path;
import org.tandem.Tandem;
import org.tandem.dist.Launch;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Trains in turns with Python: each goes on from the file that the other saved. */
@Command(name = "spirals-java", mixinStandardHelpOptions = true, sortOptions = false,
    description = "Tells the arms of spirals apart, and keeps all of a training in one file that Python's torch reads and "
        + "writes: see spirals.py")
public final class Main implements Runnable {
  @Option(names = "--file", required = true, paramLabel = "FILE.pt",
      description = "where training goes on from, if it is there, and what it is saved to")
  private Path file;

  @Option(names = "--epochs", defaultValue = "50", description = "to train now; default: ${DEFAULT-VALUE}")
  private int epochs;

  @Option(names = "--seed", defaultValue = "1", description = "of the weights that a new file begins with; default: ${DEFAULT-VALUE}")
  private long seed;

  public static void main(String[] arguments) {
    CommandLine line = new CommandLine(new Main());
    line.setParameterExceptionHandler((error, ignored) -> {
      System.err.println("error: " + error.getMessage() + " (see --help)");
      return 1;
    });
    int code = line.execute(arguments);
    if (code != 0) {
      System.exit(code);
    }
  }

  @Override
  public void run() {
    Launch.run(() -> {
      Tandem.manualSeed(seed);
      try (Training training = new Training()) {
        if (Files.exists(file)) {
          training.load(file);
          System.out.printf("going on after epoch %d%n", training.epoch());
        }
        training.train(epochs);
        training.save(file);
      }
    });
  }
}
