package gotorch

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	core "tandem.example/gotorch"
)

// zipMagic begins what wangkuiyi/gotorch wrote: an archive of LibTorch's pickle_save. Tandem's own begins with a version.
var zipMagic = []byte("PK\x03\x04")

// GobEncode is for package encoding/gob: elements, shape, type and whether the tensor requires a gradient. A decoder
// makes CPU tensors.
func (t Tensor) GobEncode() ([]byte, error) {
	native := t.Unwrap()
	if native == nil {
		return nil, errors.New("GobEncode: the tensor is not defined")
	}
	return native.GobEncode()
}

// GobDecode is for package encoding/gob. It also reads what wangkuiyi/gotorch encoded.
func (t *Tensor) GobDecode(buf []byte) error {
	decoded := new(core.Tensor)
	var err error
	if bytes.HasPrefix(buf, zipMagic) {
		decoded, err = unpickle(buf)
	} else {
		err = decoded.GobDecode(buf)
	}
	if err != nil {
		return err
	}
	*t = Wrap(decoded)
	return nil
}

// unpickle goes through a file, for that is what Tandem reads archives from.
func unpickle(archive []byte) (*core.Tensor, error) {
	file, err := os.CreateTemp("", "gotorch-*.pt")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(archive)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	value, err := core.LoadPt(file.Name(), core.PtOptions{Copy: true})
	if err != nil {
		return nil, err
	}
	decoded, ok := value.(*core.Tensor)
	if !ok {
		return nil, fmt.Errorf("GobDecode: the archive holds a %T and not a tensor", value)
	}
	return decoded, nil
}
