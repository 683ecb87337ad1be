package finetune;

import java.nio.file.Files;
import java.nio.file.Path;
import org.tandem.Device;
import org.tandem.Tandem;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.dist.Launch;
import org.tandem.dist.ProcessGroup;
import org.tandem.nn.ExportedProgram;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Goes on training a classifier of pictures that Python exported; on as many processes as {@code tandem run -n N} starts. */
@Command(name = "finetune-java", mixinStandardHelpOptions = true, sortOptions = false,
    description = "Goes on training a classifier that Python exported, and writes archives that Python opens: "
        + "tandem run -n 2 finetune-java --model train.pt2 --eval eval.pt2 --data DIR --output DIR")
public final class Main implements Runnable {
  @Option(names = "--model", required = true, paramLabel = "FILE.pt2",
      description = "that Python exported in training mode: see examples/go/finetune/export.py")
  private Path model;

  @Option(names = "--eval", paramLabel = "FILE.pt2",
      description = "of the same model in evaluation mode; without it nothing is tested")
  private Path eval;

  @Option(names = "--data", required = true, paramLabel = "DIR",
      description = "folder with train.recordio and test.recordio, as tandem record import makes them of pictures")
  private Path data;

  @Option(names = "--freeze", defaultValue = "", paramLabel = "PREFIX",
      description = "of the names of parameters that stay as they are")
  private String freeze;

  @Option(names = "--output", paramLabel = "DIR",
      description = "for what was trained: train.pt2, and with --eval eval.pt2")
  private Path output;

  @Option(names = "--epochs", defaultValue = "5",
      description = "the learning rate falls along half a cosine; default: ${DEFAULT-VALUE}")
  private int epochs;

  @Option(names = "--batch-size", defaultValue = "32", description = "per rank; default: ${DEFAULT-VALUE}")
  private long batchSize;

  @Option(names = "--lr", defaultValue = "0.01", description = "learning rate at first; default: ${DEFAULT-VALUE}")
  private double learningRate;

  @Option(names = "--backend", description = "gloo, nccl or none; default: gloo, nccl with --device cuda")
  private String backend;

  @Option(names = "--device", defaultValue = "cpu", description = "cpu or cuda; default: ${DEFAULT-VALUE}")
  private Tandem.LoadDevice device;

  @Option(names = "--checkpoints", paramLabel = "DIR",
      description = "folder for a checkpoint after each epoch; goes on from the newest one in it")
  private Path checkpoints;

  @Option(names = "--seed", defaultValue = "1", description = "default: ${DEFAULT-VALUE}")
  private long seed;

  public static void main(String[] arguments) {
    CommandLine line = new CommandLine(new Main()).setCaseInsensitiveEnumValuesAllowed(true);
    line.setOverwrittenOptionsAllowed(true);
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
    Launch.run(this::train);
  }

  private void train() throws Exception {
    if (epochs < 1 || batchSize < 1 || !(learningRate > 0)) {
      throw new TandemInvalidArgumentException("finetune", "--epochs, --batch-size and --lr must be above 0");
    }
    boolean cuda = device == Tandem.LoadDevice.CUDA;
    Tandem.load("", device);
    Device here = cuda ? Device.cuda(Launch.localRank()) : Device.CPU;
    ExportedProgram.Options modes = new ExportedProgram.Options();
    ExportedProgram program = ExportedProgram.loadProgram(model, eval == null ? modes : modes.otherMode(eval));
    program.train();
    Pictures pictures = Pictures.of(program, model, data);
    program.to(here);
    ProcessGroup.Options options =
        new ProcessGroup.Options().backend(backend != null ? backend : cuda ? "nccl" : "gloo").device(here);
    try (program; ProcessGroup group = ProcessGroup.init(options);
        Training training = new Training(program, pictures, group, here, freeze, batchSize, learningRate, seed)) {
      if (checkpoints != null) {
        training.keepIn(checkpoints);
      }
      training.run(epochs, eval != null);
      if (output != null && group.rank() == 0) {
        save(program);
      }
      if (!training.parametersAgree()) {
        System.exit(1);
      }
    }
  }

  /** Archives that torch.export.load opens in Python. */
  private void save(ExportedProgram program) throws Exception {
    Files.createDirectories(output);
    program.train();
    program.saveProgram(output.resolve("train.pt2"));
    if (eval != null) {
      program.eval();
      program.saveProgram(output.resolve("eval.pt2"));
    }
  }
}
