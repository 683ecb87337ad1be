// List writes what the packages of a checkout of wangkuiyi/gotorch export, for compat/testdata/signatures.txt:
//
//	go run ./compat/internal/signatures/list FOLDER COMMIT > compat/testdata/signatures.txt
package main

import (
	"fmt"
	"log"
	"os"

	"tandem.example/gotorch/compat/internal/signatures"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("give the folder of a checkout, and its commit")
	}
	lines, err := signatures.List(os.Args[1], map[string]string{"github.com/wangkuiyi/gotorch": "gotorch"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("# What github.com/wangkuiyi/gotorch exports at commit %s. Made by compat/internal/signatures/list.\n", os.Args[2])
	for _, line := range lines {
		fmt.Println(line)
	}
}
