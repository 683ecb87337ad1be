package mnist;

import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import javax.imageio.ImageIO;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.tandem.data.Mnist;

/** The two pictures that a training leaves. */
final class Pictures {
  private static final int COLUMNS = 10;
  private static final int SCALE = 3;
  private static final int CAPTION = 22;

  private Pictures() {}

  /** Loss and test accuracy by epoch. */
  static void curve(Path path, List<Double> epochs, List<Double> losses, List<Double> accuracies) throws IOException {
    XYChart chart = new XYChartBuilder().width(800).height(480).title("MNIST").xAxisTitle("epoch").build();
    chart.addSeries("training loss", epochs, losses).setYAxisGroup(0);
    chart.addSeries("test accuracy, %", epochs, accuracies).setYAxisGroup(1);
    chart.setYAxisGroupTitle(0, "training loss");
    chart.setYAxisGroupTitle(1, "test accuracy, %");
    chart.getStyler().setYAxisGroupPosition(1, org.knowm.xchart.style.Styler.YAxisPosition.Right);
    chart.getStyler().setYAxisMin(0, 0.0);
    BitmapEncoder.saveBitmap(chart, path.toString(), BitmapEncoder.BitmapFormat.PNG);
  }

  /** Digits with what they were taken for: green where right, else red with the truth in brackets. */
  static void digits(Path path, List<byte[]> records, long[] predictions) throws IOException {
    int cell = Mnist.SIDE * SCALE;
    int rows = (records.size() + COLUMNS - 1) / COLUMNS;
    BufferedImage sheet =
        new BufferedImage(COLUMNS * cell, rows * (cell + CAPTION), BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = sheet.createGraphics();
    graphics.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
    graphics.setFont(new Font(Font.SANS_SERIF, Font.BOLD, 16));
    graphics.setColor(Color.WHITE);
    graphics.fillRect(0, 0, sheet.getWidth(), sheet.getHeight());
    for (int i = 0; i < records.size(); i++) {
      byte[] record = records.get(i);
      int left = i % COLUMNS * cell;
      int top = i / COLUMNS * (cell + CAPTION);
      for (int pixel = 0; pixel < Mnist.SIDE * Mnist.SIDE; pixel++) {
        int grey = 255 - (record[1 + pixel] & 0xff);
        graphics.setColor(new Color(grey, grey, grey));
        graphics.fillRect(left + pixel % Mnist.SIDE * SCALE, top + pixel / Mnist.SIDE * SCALE, SCALE, SCALE);
      }
      boolean right = predictions[i] == record[0];
      graphics.setColor(right ? new Color(0, 128, 0) : Color.RED);
      graphics.drawString(right ? "" + predictions[i] : predictions[i] + " (" + record[0] + ")",
          left + cell / 3, top + cell + CAPTION - 6);
    }
    graphics.dispose();
    File file = path.toFile();
    if (!ImageIO.write(sheet, "png", file)) {
      throw new IOException("Java cannot write PNG files");
    }
  }
}
