package gotorch

import "fmt"

// Layout is how a tensor's elements are stored. The numbers are those of tandem.h.
type Layout int32

// The layouts.
const (
	Strided   Layout = 0
	Sparse    Layout = 1 // coordinates and values
	SparseCSR Layout = 2 // compressed rows
	SparseCSC Layout = 4 // compressed columns
	SparseBSR Layout = 5 // compressed rows of blocks
	SparseBSC Layout = 6 // compressed columns of blocks
)

// String is PyTorch's name, such as "strided".
func (l Layout) String() string {
	switch l {
	case Strided:
		return "strided"
	case Sparse:
		return "sparse_coo"
	case SparseCSR:
		return "sparse_csr"
	case SparseCSC:
		return "sparse_csc"
	case SparseBSR:
		return "sparse_bsr"
	case SparseBSC:
		return "sparse_bsc"
	}
	return fmt.Sprintf("layout(%d)", int32(l))
}

// MemoryFormat is the order of a dense tensor's dimensions in memory. The numbers are those of tandem.h.
type MemoryFormat int32

// The memory formats.
const (
	ContiguousFormat MemoryFormat = 0
	PreserveFormat   MemoryFormat = 1
	ChannelsLast     MemoryFormat = 2 // of [batch, channels, height, width]
	ChannelsLast3d   MemoryFormat = 3 // of [batch, channels, depth, height, width]
)

// String is PyTorch's name, such as "channels_last".
func (m MemoryFormat) String() string {
	switch m {
	case ContiguousFormat:
		return "contiguous_format"
	case PreserveFormat:
		return "preserve_format"
	case ChannelsLast:
		return "channels_last"
	case ChannelsLast3d:
		return "channels_last_3d"
	}
	return fmt.Sprintf("memory format(%d)", int32(m))
}
