// Package rankreport writes what a rank of a benchmark tells the driver.
package rankreport

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Write makes rank-N.json in the folder BENCH_OUT.
func Write(rank int, values map[string]any) error {
	content, err := json.Marshal(values)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(os.Getenv("BENCH_OUT"), fmt.Sprintf("rank-%d.json", rank)), content, 0o644)
}

// ResidentKB is this process's resident memory.
func ResidentKB() (int, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0, fmt.Errorf("/proc/self/status has no VmRSS")
	}
	return strconv.Atoi(fields[0])
}
