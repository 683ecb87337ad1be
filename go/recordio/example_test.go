package recordio_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"tandem.example/gotorch/recordio"
)

func Example() {
	folder, err := os.MkdirTemp("", "records")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "words.recordio")
	writer, err := recordio.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	for _, word := range []string{"one", "two"} {
		if _, err := writer.Write([]byte(word)); err != nil {
			log.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		log.Fatal(err)
	}
	reader, err := recordio.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()
	for record, err := range reader.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(record))
	}
	// Output:
	// one
	// two
}
