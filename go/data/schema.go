package data

import (
	"encoding/json"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// SampleFormat says how a record holds the fields of a [Schema].
type SampleFormat string

const (
	FixedFormat     SampleFormat = "fixed"            // one after another, little-endian; the last one may vary in size
	MsgpackFormat   SampleFormat = "msgpack"          // a MessagePack map from names to values, or an array of values
	TFExampleFormat SampleFormat = "tf.train.Example" // that protocol buffer, as in most TFRecord files
	JSONFormat      SampleFormat = "json"             // an object from names to values, or an array of values: a line of NDJSON
	CSVFormat       SampleFormat = "csv"              // a line; numbers with a shape take a column for each element
)

// FieldKind is what a field of a [Schema] holds.
type FieldKind string

const (
	Numbers FieldKind = "numbers" // of DType and Shape
	Bytes   FieldKind = "bytes"   // a string or other bytes: Uint8 [-1]
	Image   FieldKind = "image"   // JPEG or PNG: Uint8 [C, H, W], or [H, W, C]; not of JSONFormat and CSVFormat
)

// Schema says what the records of a data set hold. docs/samples.md has the details.
type Schema struct {
	Format SampleFormat // "": FixedFormat
	Fields []SchemaField
	// Of CSVFormat: the names of a record's columns, a field's once for all that it takes. Those that are no field's are
	// skipped. Empty: the fields in their order.
	Columns   []string
	Separator string // of CSVFormat: "," (""), ";", "|" or a tab
}

// SchemaField is one field of the records.
type SchemaField struct {
	Name  string
	Kind  FieldKind     // "": Numbers
	DType gotorch.DType // of Numbers
	Shape []int         // empty: a scalar; -1 is a size that varies; of an Image it may be left out
	Mode  string        // of an Image: "RGB" (""), "gray" or "unchanged"
	HWC   bool          // an Image as [H, W, C]
}

// MarshalJSON is the schema as RecordIO files of version 2 carry it.
func (s Schema) MarshalJSON() ([]byte, error) {
	fields := make([]map[string]any, len(s.Fields))
	for i, f := range s.Fields {
		field := map[string]any{"name": f.Name}
		if f.Kind != "" {
			field["kind"] = f.Kind
		}
		if f.Kind == "" || f.Kind == Numbers {
			field["dtype"] = f.DType.String()
		}
		if len(f.Shape) > 0 {
			field["shape"] = f.Shape
		}
		if f.Mode != "" {
			field["mode"] = f.Mode
		}
		if f.HWC {
			field["layout"] = "HWC"
		}
		fields[i] = field
	}
	format := s.Format
	if format == "" {
		format = FixedFormat
	}
	schema := map[string]any{"format": format, "fields": fields}
	if len(s.Columns) > 0 {
		schema["columns"] = s.Columns
	}
	if s.Separator != "" {
		schema["separator"] = s.Separator
	}
	return json.Marshal(schema)
}

// FitKind is how a picture becomes one size.
type FitKind string

const (
	FitResize            FitKind = "resize"              // to Height × Width, whatever that does to its proportions
	FitCenterCrop        FitKind = "center_crop"         // its middle; the shorter side is resized to Shorter first, if that is set
	FitRandomResizedCrop FitKind = "random_resized_crop" // torchvision's RandomResizedCrop
)

// Fit makes the pictures of a field one size while they are decoded.
type Fit struct {
	Kind          FitKind
	Height, Width int
	Shorter       int
	Scale, Ratio  gotorch.Opt[[2]float64] // of FitRandomResizedCrop; unset: {0.08, 1} and {3/4, 4/3}
	Flip          bool                    // half of all samples are mirrored
	Stream        uint64
	Antialias     gotorch.Opt[bool] // unset: true
	FastScaling   bool              // decodes large JPEGs at 1/2, 1/4 or 1/8: quicker, slightly other pixels
}

// Pad is how a field of varying size becomes one tensor: filled up with Value to the longest of the batch, rounded up to
// a multiple of MultipleOf (0: 1). What is longer than MaxLength (0: no limit) is cut.
type Pad struct {
	Value                 float64
	MultipleOf, MaxLength int
}

// Pack is how sequences come end to end in rows of Length; what is left is filled with Value.
type Pack struct {
	Length int
	Value  float64
	Whole  bool // a sequence begins a new row rather than run on in the next
}

// SchemaOptions of [FromSchema]. Fields of varying size that neither Pads nor Packs names are padded with zeros.
type SchemaOptions struct {
	Fits      map[string]Fit
	Pads      map[string]Pad
	Packs     map[string]Pack
	MaxPixels int  // a larger picture is refused; 0: 178956970
	Strict    bool // damage of a JPEG that libjpeg would paint over is an error
	Files     FileOptions
}

// FromSchema are records of files of any format, decoded by a loader's threads. Without a schema it is the one that the
// first file carries, of RecordIO version 2. A batch has a tensor for each field, and beside those of varying size
// NAME_lengths (NAME_sizes of pictures), or NAME_segment_ids, NAME_positions and NAME_cu_seqlens where they are packed.
// Errors: those of [Records]; a record that is not what the schema says is an error of its batch, with file, chunk,
// record and field.
func FromSchema(paths []string, schema *Schema, options ...SchemaOptions) (*Dataset, error) {
	o, err := bridge.One(options)
	if err != nil {
		return nil, err
	}
	var text []byte
	if schema != nil {
		text, _ = json.Marshal(schema) // maps of texts and numbers always have JSON
	}
	files, err := o.Files.raw("data.FromSchema")
	if err != nil {
		return nil, err
	}
	return wrapDataset(c.CreateSchemaDataset(paths, string(text), o.decoding(), o.collating(), files))
}

func (o SchemaOptions) decoding() string {
	fits := map[string]option{}
	for name, f := range o.Fits {
		fit := option{"kind": f.Kind, "height": f.Height, "width": f.Width, "shorter": f.Shorter, "flip": f.Flip,
			"stream": f.Stream, "fast_scaling": f.FastScaling}
		put(fit, "scale", f.Scale)
		put(fit, "ratio", f.Ratio)
		put(fit, "antialias", f.Antialias)
		fits[name] = fit
	}
	decoding := option{"fits": fits, "strict": o.Strict}
	if o.MaxPixels != 0 {
		decoding["max_pixels"] = o.MaxPixels
	}
	return decoding.json()
}

func (o SchemaOptions) collating() string {
	pads, packs := map[string]option{}, map[string]option{}
	for name, p := range o.Pads {
		pads[name] = option{"value": p.Value, "multiple_of": or(p.MultipleOf, 1), "max_length": p.MaxLength}
	}
	for name, p := range o.Packs {
		packs[name] = option{"length": p.Length, "value": p.Value, "split": !p.Whole}
	}
	return option{"pad": pads, "pack": packs}.json()
}

// option is a JSON object of options.
type option map[string]any

func (o option) json() string {
	text, err := json.Marshal(o)
	if err != nil {
		return "an option that is no number: " + err.Error() // no JSON either, so that it is refused with this text
	}
	return string(text)
}

// put sets an option that is set.
func put[T any](o option, name string, value gotorch.Opt[T]) {
	if v, set := value.Get(); set {
		o[name] = v
	}
}
