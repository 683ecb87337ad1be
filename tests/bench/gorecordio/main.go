// The original's side of `loader`'s v1-read-crc, github.com/wangkuiyi/recordio.
//
//	bench-go-recordio FILE PASSES
//
// Writes rank-0.json into the folder BENCH_OUT: records a second of the best pass, and the sum of all bytes.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/wangkuiyi/recordio"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 3 {
		return fmt.Errorf("usage: bench-go-recordio FILE PASSES")
	}
	passes, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return err
	}
	var best time.Duration
	var records, labels int
	for pass := range passes {
		begin := time.Now()
		records, labels = 0, 0
		if err := scan(os.Args[1], func(record []byte) { records, labels = records+1, labels+int(record[0]) }); err != nil {
			return err
		}
		if took := time.Since(begin); pass == 0 || took < best {
			best = took
		}
	}
	var sum int
	err = scan(os.Args[1], func(record []byte) {
		for _, b := range record {
			sum += int(b)
		}
	})
	if err != nil {
		return err
	}
	result, err := json.Marshal(map[string]any{"records_per_s": float64(records) / best.Seconds(), "records": records,
		"labels": labels, "bytes": sum})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(os.Getenv("BENCH_OUT"), "rank-0.json"), result, 0o644)
}

func scan(path string, use func(record []byte)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	index, err := recordio.LoadIndex(file)
	if err != nil {
		return err
	}
	scanner := recordio.NewScanner(file, index, -1, -1)
	records := 0
	for ; scanner.Scan(); records++ {
		use(scanner.Record())
	}
	if records != index.NumRecords() {
		return fmt.Errorf("%d of %d records were read", records, index.NumRecords())
	}
	return nil
}
