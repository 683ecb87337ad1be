package reinforce;

import org.tandem.TandemInvalidArgumentException;
import org.tandem.rpc.Rpc;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Learns to balance a pole: an agent, the first worker, has the policy; observers, all others, have the carts, and ask the agent
 * at each step what to do. Source: Williams, "Simple statistical gradient-following algorithms", 1992.
 */
@Command(name = "reinforce-java", mixinStandardHelpOptions = true, sortOptions = false,
    description = "Learns to balance a pole: tandem run -n 3 -- reinforce-java")
public final class Main implements Runnable {
  @Option(names = "--rounds", defaultValue = "150", description = "in each of which every observer has one episode; default: ${DEFAULT-VALUE}")
  private int rounds;

  @Option(names = "--longest", defaultValue = "200", description = "steps of an episode; default: ${DEFAULT-VALUE}")
  private int longest;

  @Option(names = "--every", defaultValue = "10", description = "rounds from one report to the next; default: ${DEFAULT-VALUE}")
  private int every;

  @Option(names = "--lr", defaultValue = "0.01", description = "learning rate; default: ${DEFAULT-VALUE}")
  private double learningRate;

  @Option(names = "--discount", defaultValue = "0.99", description = "of rewards to come; default: ${DEFAULT-VALUE}")
  private double discount;

  @Option(names = "--seed", defaultValue = "1", description = "of all random numbers; default: ${DEFAULT-VALUE}")
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
    if (rounds < 1 || longest < 1 || every < 1) {
      throw new TandemInvalidArgumentException("reinforce-java", "numbers must be above 0; --help lists all options");
    }
    Rpc.register("episode", new Observer(seed)::episode);
    try (Agent agent = new Agent(learningRate, discount, seed)) {
      Rpc.register("act", agent::act);
      Rpc.init();
      try {
        if (Rpc.self().id() == 0) {
          agent.learn(rounds, longest, every);
        }
      } catch (RuntimeException failed) {
        Rpc.shutdown(false);
        throw failed;
      }
      Rpc.shutdown();
    }
  }
}
