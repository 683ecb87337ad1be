package finetune;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.data.Dataset;
import org.tandem.data.Loader;
import org.tandem.data.SchemaOptions;
import org.tandem.dist.ProcessGroup;
import org.tandem.nn.ExportedProgram;

/** A folder's pictures, of the size that a program takes. */
record Pictures(Path folder, int height, int width) {
  private static final Pattern INPUT = Pattern.compile("Float\\[[^,]+, 3, (\\d+), (\\d+)\\]");
  private static final String SCHEMA = "{\"format\": \"msgpack\", \"fields\": [{\"name\": \"image\", \"kind\": \"image\"}, "
      + "{\"name\": \"label\", \"dtype\": \"int64\"}]}";
  private static final String OF_IMAGENET = "[{\"step\": \"normalize\", \"fields\": [\"image\"], \"scale\": "
      + 1.0 / 255 + ", \"mean\": [0.485, 0.456, 0.406], \"std\": [0.229, 0.224, 0.225]}]";
  // Parts of a picture that the middle is cut from.
  private static final int PARTS = 8;
  private static final int MIDDLE = 7;

  /** What {@code program}, of the file {@code model}, takes. */
  static Pictures of(ExportedProgram program, Path model, Path folder) {
    List<String> inputs = List.copyOf(program.inputs().values());
    Matcher found = INPUT.matcher(inputs.size() == 1 ? inputs.get(0) : "");
    if (!found.matches()) {
      throw new TandemInvalidArgumentException("finetune", model + " takes " + program.inputs() + "; it must take pictures alone, "
          + "Float[batch, 3, height, width] with a height and width that are numbers");
    }
    return new Pictures(folder, Integer.parseInt(found.group(1)), Integer.parseInt(found.group(2)));
  }

  /** Random parts of the pictures, perhaps mirrored. Batches have an "image" [batch, 3, height, width] and a "label" [batch]. */
  Loader train(ProcessGroup group, long batchSize, long seed) {
    return open("train.recordio", "{\"kind\": \"random_resized_crop\", \"flip\": true, ",
        options(group, batchSize, seed).dropLast(true));
  }

  /** The pictures' middles. */
  Loader test(ProcessGroup group, long batchSize) {
    int shorter = Math.max(height, width) * PARTS / MIDDLE;
    return open("test.recordio", "{\"kind\": \"center_crop\", \"shorter\": " + shorter + ", ",
        options(group, batchSize, 0).shuffle(false));
  }

  private static Loader.Options options(ProcessGroup group, long batchSize, long seed) {
    return new Loader.Options().batchSize(batchSize).rank(group.rank(), group.size()).seed(seed);
  }

  private Loader open(String name, String fit, Loader.Options options) {
    String decoding =
        "{\"fits\": {\"image\": " + fit + "\"height\": " + height + ", \"width\": " + width + "}}}";
    try (Dataset pictures = Dataset.ofSchema(
             List.of(folder.resolve(name)), new SchemaOptions().schema(SCHEMA).decoding(decoding))) {
      return new Loader(pictures, options).addTransforms(OF_IMAGENET);
    }
  }
}
