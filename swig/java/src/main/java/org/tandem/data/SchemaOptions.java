package org.tandem.data;

import org.tandem.internal.NativeSchemaOptions;

/** How records of a schema are read. The texts are JSON, as docs/samples.md and tandem.h have it. */
public final class SchemaOptions {
  private String schema = "";
  private String decoding = "";
  private String collating = "";

  /** "": the one that the first file carries, of RecordIO version 2. */
  public SchemaOptions schema(String json) {
    schema = json;
    return this;
  }

  /** {@code {"fits": {"picture": {"kind": "random_resized_crop", "height": 224, "width": 224}}, "strict": true}}. */
  public SchemaOptions decoding(String json) {
    decoding = json;
    return this;
  }

  /** {@code {"pad": {"tokens": {"multiple_of": 8, "max_length": 512}}, "pack": {"text": {"length": 1024}}}}. */
  public SchemaOptions collating(String json) {
    collating = json;
    return this;
  }

  NativeSchemaOptions toNative() {
    NativeSchemaOptions natives = new NativeSchemaOptions();
    natives.setSchema(schema);
    natives.setDecoding(decoding);
    natives.setCollating(collating);
    return natives;
  }
}
