package gotorch_test

import (
	"testing"

	"tandem.example/gotorch"
)

func BenchmarkAddInScope(b *testing.B) {
	x := gotorch.Rand([]int{4, 4})
	b.ReportAllocs()
	for b.Loop() {
		gotorch.Scope(func() {
			for range 100 {
				x.Add(x)
			}
		})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/add")
}

func BenchmarkAddOutsideScopes(b *testing.B) {
	x := gotorch.Rand([]int{4, 4})
	b.ReportAllocs()
	for b.Loop() {
		x.Add(x)
	}
}

func BenchmarkAddAndClose(b *testing.B) {
	x := gotorch.Rand([]int{4, 4})
	for b.Loop() {
		x.Add(x).Close()
	}
}
