package serve;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.dist.Launch;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import sun.misc.Signal;

/** Answers HTTP requests by a model that Python exported in evaluation mode. */
@Command(name = "serve-java", mixinStandardHelpOptions = true, sortOptions = false,
    description = "Answers POST /predict, a JSON array of rows, with an array of results: serve-java --model eval.pt2")
public final class Main implements Runnable {
  @Option(names = "--model", required = true, paramLabel = "FILE.pt2", description = "that Python exported in evaluation mode")
  private Path model;

  @Option(names = "--checkpoints", paramLabel = "DIR",
      description = "of a training of this model, whose newest checkpoint has the weights")
  private Path checkpoints;

  @Option(names = "--address", defaultValue = "127.0.0.1:8080", paramLabel = "HOST:PORT",
      description = "to listen on; port 0: any that is free; default: ${DEFAULT-VALUE}")
  private String address;

  @Option(names = "--rows", defaultValue = "32", description = "most of a batch, and of a request; default: ${DEFAULT-VALUE}")
  private int rows;

  @Option(names = "--wait", defaultValue = "2ms",
      description = "longest time that a request waits for others to join its batch, in ms or s; default: ${DEFAULT-VALUE}")
  private String wait;

  @Option(names = "--waiting", defaultValue = "256",
      description = "most requests at once; more get status 503; default: ${DEFAULT-VALUE}")
  private int waiting;

  @Option(names = "--bytes", defaultValue = "1048576", description = "most of a request; default: ${DEFAULT-VALUE}")
  private int bytes;

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
    Launch.run(this::serve);
  }

  /** Serves until SIGTERM or SIGINT; requests that came before get their answers. */
  private void serve() throws Exception {
    if (Math.min(rows, Math.min(waiting, bytes)) < 1) {
      throw new TandemInvalidArgumentException("serve", "--rows, --waiting and --bytes must be above 0");
    }
    Model served = Model.load(model, checkpoints, rows);
    // No shutdown hook: hooks run side by side, and Tandem's own ends what still computes.
    CountDownLatch told = new CountDownLatch(1);
    for (String name : List.of("TERM", "INT")) {
      Signal.handle(new Signal(name), signal -> told.countDown());
    }
    try (Batcher batcher = new Batcher(served, waiting, pause())) {
      Server server = new Server(served, batcher, host(), waiting, bytes);
      server.start();
      System.out.printf("rows of %s, at most %d at once, on http://%s/predict%n", served.row(), served.most(), server.address());
      told.await();
      server.stop();
    }
  }

  private InetSocketAddress host() {
    int colon = address.lastIndexOf(':');
    try {
      return new InetSocketAddress(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
    } catch (IllegalArgumentException | IndexOutOfBoundsException unreadable) {
      throw new TandemInvalidArgumentException("serve", "--address is '" + address + "'; it must be HOST:PORT");
    }
  }

  private Duration pause() {
    try {
      return wait.endsWith("ms") ? Duration.ofMillis(Long.parseUnsignedLong(wait, 0, wait.length() - 2, 10))
                                 : Duration.ofSeconds(Long.parseUnsignedLong(wait, 0, wait.indexOf('s'), 10));
    } catch (NumberFormatException | IndexOutOfBoundsException unreadable) {
      throw new TandemInvalidArgumentException("serve", "--wait is '" + wait + "'; it must be as 2ms or 1s");
    }
  }
}
