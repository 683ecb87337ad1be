package imageloader

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math/rand"

	torch "tandem.example/gotorch/compat"
	"tandem.example/gotorch/compat/tool/tgz"
	"tandem.example/gotorch/compat/vision/transforms"
)

type sample struct {
	image image.Image
	label int64
}

// reading is what a loader does in the background. It does not know the loader, which the collector is to find.
type reading struct {
	ctx                context.Context // ends with the loader
	file               *tgz.Reader
	name               string
	vocab              map[string]int
	perImage, perBatch *transforms.ComposeTransformer
	size               int
	pin                bool
	colors             string
	out                chan<- minibatch

	images []image.Image
	labels []int64
}

var errStopped = errors.New("the loader is gone")

func (r *reading) run(order *shuffle) {
	defer close(r.out)
	err := errors.Join(r.read(order), r.file.Close())
	if err != nil && !errors.Is(err, errStopped) {
		r.give(minibatch{err: err})
	}
}

// give waits for the loader; false when that is gone.
func (r *reading) give(b minibatch) bool {
	select {
	case r.out <- b:
		return true
	case <-r.ctx.Done():
		return false
	}
}

func (r *reading) read(order *shuffle) (err error) {
	// Transforms panic: what an image is not fit for is an error of the loader.
	defer func() {
		if failed := recover(); failed != nil {
			err = fmt.Errorf("%s: %v", r.name, failed)
		}
	}()
	for {
		header, err := r.file.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		s, err := r.sample(header)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", r.name, header.Name, err)
		}
		if drawn, ok := order.exchange(s); ok {
			if err := r.add(drawn); err != nil {
				return err
			}
		}
	}
	for _, s := range order.rest() {
		if err := r.add(s); err != nil {
			return err
		}
	}
	return r.flush()
}

// mostBytes of a file in the archive, which may unpack to more than there is memory.
const mostBytes = 1 << 28

func (r *reading) sample(header *tar.Header) (sample, error) {
	class := classOf(header.Name)
	label, ok := r.vocab[class]
	if !ok {
		return sample{}, fmt.Errorf("the vocabulary has no class %q", class)
	}
	if header.Size > mostBytes {
		return sample{}, fmt.Errorf("it has %d bytes; images of up to %d are read", header.Size, mostBytes)
	}
	encoded, err := io.ReadAll(r.file)
	if err != nil {
		return sample{}, err
	}
	img, err := decode(encoded, r.colors)
	if err != nil {
		return sample{}, err
	}
	transformed, ok := r.perImage.Run(img).(image.Image)
	if !ok {
		return sample{}, errors.New("what the transforms before ToTensor give is no image.Image")
	}
	return sample{transformed, int64(label)}, nil
}

// add gives a minibatch when it is full.
func (r *reading) add(s sample) error {
	r.images, r.labels = append(r.images, s.image), append(r.labels, s.label)
	if len(r.images) < r.size {
		return nil
	}
	return r.flush()
}

func (r *reading) flush() error {
	if len(r.images) == 0 {
		return nil
	}
	data, ok := r.perBatch.Run(r.images).(torch.Tensor)
	if !ok {
		return errors.New("what the transforms give is no Tensor; ToTensor must be among them")
	}
	label := torch.NewTensor(r.labels)
	if r.pin {
		data, label = data.PinMemory(), label.PinMemory()
	}
	r.images, r.labels = nil, nil
	if !r.give(minibatch{data: data, label: label}) {
		return errStopped
	}
	return nil
}

// shuffle is a buffer that samples are drawn from.
type shuffle struct {
	random *rand.Rand
	buffer []sample
	size   int
}

func newShuffle(size int, seed int64) *shuffle {
	return &shuffle{random: rand.New(rand.NewSource(seed)), size: size}
}

// exchange takes a sample and, once the buffer is full, gives another.
func (s *shuffle) exchange(in sample) (out sample, ok bool) {
	switch {
	case s.size < 1:
		return in, true
	case len(s.buffer) < s.size:
		s.buffer = append(s.buffer, in)
		return sample{}, false
	}
	at := s.random.Intn(len(s.buffer))
	out, s.buffer[at] = s.buffer[at], in
	return out, true
}

// rest is what is left at the end.
func (s *shuffle) rest() []sample {
	s.random.Shuffle(len(s.buffer), func(i, j int) { s.buffer[i], s.buffer[j] = s.buffer[j], s.buffer[i] })
	return s.buffer
}
