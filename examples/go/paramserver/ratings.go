package main

import "tandem.example/gotorch"

const tastes = 4 // by which ratings are drawn

// ratings say who likes what: whose tastes go with an item's.
type ratings struct{ users, items *gotorch.Tensor }

func (s *settings) drawRatings() ratings {
	random := gotorch.NewGenerator(gotorch.CPU).ManualSeed(s.seed)
	return ratings{gotorch.RandNGenerator([]int{s.users, tastes}, random), gotorch.RandNGenerator([]int{s.items, tastes}, random)}
}

type batch struct {
	users, items *gotorch.Tensor // numbers
	liked        *gotorch.Tensor // 1 or 0
}

func (r ratings) batch(size int, random *gotorch.Generator) batch {
	whole := gotorch.TensorOptions{DType: gotorch.Some(gotorch.Int64)}
	users := gotorch.RandIntGenerator(r.users.Size(0), []int{size}, random, whole)
	items := gotorch.RandIntGenerator(r.items.Size(0), []int{size}, random, whole)
	fit := r.users.IndexSelect(0, users).Mul(r.items.IndexSelect(0, items)).SumDim([]int{1})
	return batch{users, items, fit.GtScalar(0).To(gotorch.Float32)}
}
