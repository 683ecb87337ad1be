package data

import (
	"fmt"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/c"
)

// FileOptions say how [Records] and [FromSchema] open files.
type FileOptions struct {
	Format  string // "recordio", "tfrecord", "csv" and so on, see docs/record-formats.md; "": what each file's bytes say
	Skip    int    // records to leave out at the beginning of each file: a CSV file's header
	NoIndex bool   // reads and writes no FILE.idx beside files of RecordIO v1

	// Bytes of decompressed and of fetched chunks in memory, of all files together; unset: 256 MiB.
	MemoryBytes gotorch.Opt[int]

	// Bytes that a compressed chunk of RecordIO may take once it is decompressed, or ErrUnsupported: a few KB may become
	// gigabytes. 0: 1 GiB.
	MostChunkBytes int

	// What follows is for http://, https:// and s3://. The latter are signed with AWS_ACCESS_KEY_ID,
	// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN of the environment, or with the keys of the file
	// AWS_SHARED_CREDENTIALS_FILE; both are looked at again when a service refuses what they said.

	Attempts       int           // how often a request is made before its failure is an error; 0: 6
	ConnectTimeout time.Duration // for the connection of one attempt; 0: 15 s
	StallTimeout   time.Duration // how long a reply may stand still, or be slow, in whole seconds, rounded up; 0: 30 s
	LeastSpeed     int           // bytes a second, below which a reply is slow; 0: 1024
	RequestTimeout time.Duration // of a request with all its attempts; 0: ten minutes

	// Where what was fetched is kept for later runs, and how much of it, about; 0 bytes: nothing is kept. Unset:
	// TANDEM_CACHE_DIR, else $XDG_CACHE_HOME/tandem, else ~/.cache/tandem; TANDEM_CACHE_BYTES, else 10 GiB.
	CacheFolder string
	CacheBytes  gotorch.Opt[int]

	S3Endpoint string // of services like S3's, "http://minio:9000"; "": AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, Amazon's
	S3Region   string // "": AWS_REGION, AWS_DEFAULT_REGION, else "us-east-1"
}

func (o FileOptions) raw(operation string) (raw c.OpenRecordsOptions, err error) {
	refuse := func(name string, given int, instead string) error {
		return &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: operation,
			Message: fmt.Sprintf("%s is %d bytes; %s", name, given, instead)}
	}
	if bytes := o.MemoryBytes.Or(0); bytes < 0 {
		return raw, refuse("MemoryBytes", bytes, "give 0 or more, or leave it unset for 256 MiB")
	}
	if o.MostChunkBytes < 0 {
		return raw, refuse("MostChunkBytes", o.MostChunkBytes, "give 1 or more, or 0 for 1 GiB")
	}
	if bytes := o.CacheBytes.Or(0); bytes < 0 {
		return raw, refuse("CacheBytes", bytes, "give 0 or more, or leave it unset for TANDEM_CACHE_BYTES or 10 GiB")
	}
	return c.OpenRecordsOptions{
		Format: o.Format, Skip: o.Skip, CacheBytes: o.MemoryBytes.Or(256 << 20), UseIndex: !o.NoIndex,
		Attempts: or(o.Attempts, 6), CacheFolder: o.CacheFolder, CacheFolderBytes: o.CacheBytes.Or(-1),
		S3Endpoint: o.S3Endpoint, S3Region: o.S3Region,
		ConnectTimeoutMS: milliseconds(o.ConnectTimeout, 15*time.Second),
		StallTimeoutMS:   milliseconds(o.StallTimeout, 30*time.Second),
		MostChunkBytes:   o.MostChunkBytes, LeastSpeed: o.LeastSpeed,
		RequestTimeoutMS: milliseconds(o.RequestTimeout, 10*time.Minute),
	}, nil
}
