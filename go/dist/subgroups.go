package dist

import (
	"context"

	"tandem.example/gotorch/internal/c"
)

// NewGroup makes a group of some of this one's ranks, numbered in the order of ranks. All ranks of this group call it,
// with the same ranks and name; those outside get nil, at once. Name "": this group's with a number. Backend, timeout
// and device are this group's. Cancelling ctx, then or later, aborts the new group; so does the end of this group's
// context. Close it, before or after this one.
func (g *ProcessGroup) NewGroup(ctx context.Context, ranks []int, name string) (*ProcessGroup, error) {
	return g.Split(ctx, [][]int{ranks}, name)
}

// Split is [ProcessGroup.NewGroup] for several groups without a rank in common: it gives the one that this rank is in.
func (g *ProcessGroup) Split(ctx context.Context, groups [][]int, name string) (*ProcessGroup, error) {
	return g.newSubgroup(ctx, "process_group_split", func(group c.ProcessGroup) (c.ProcessGroup, *c.Failure) {
		return c.SplitGroup(group, groups, name)
	})
}

// NewSubgroups splits into neighbours by size, which must divide the number of ranks.
func (g *ProcessGroup) NewSubgroups(ctx context.Context, size int, name string) (*ProcessGroup, error) {
	return g.newSubgroup(ctx, "process_group_new_subgroups", func(group c.ProcessGroup) (c.ProcessGroup, *c.Failure) {
		return c.NewSubgroups(group, size, name)
	})
}

func (g *ProcessGroup) newSubgroup(ctx context.Context, op string,
	call func(c.ProcessGroup) (c.ProcessGroup, *c.Failure)) (made *ProcessGroup, err error) {
	err = g.blocking(ctx, op, func(group c.ProcessGroup) *c.Failure {
		handle, failure := call(group)
		if failure == nil && handle != nil {
			made = g.adoptSubgroup(ctx, handle)
		}
		return failure
	})
	return made, err
}

// adoptSubgroup takes the handle of a group of some of this one's ranks, which ends with ctx and with this one's context.
func (g *ProcessGroup) adoptSubgroup(ctx context.Context, handle c.ProcessGroup) *ProcessGroup {
	made := newGroup(ctx, handle, g.device)
	own, stop := made.release, context.AfterFunc(g.ctx, func() { made.Abort() })
	made.release = func() bool { return own() && stop() }
	return made
}

// GlobalRank is a rank's number in the group that sub-groups began with; -1 for a rank that there is not.
func (g *ProcessGroup) GlobalRank(rank int) int {
	global := -1
	g.use("dist.ProcessGroup.GlobalRank", func(group c.ProcessGroup) *c.Failure {
		global = c.GlobalRank(group, rank)
		return nil
	})
	return global
}

// RankOf is the rank in this group of a rank of the group that sub-groups began with; -1 when it is not in it.
func (g *ProcessGroup) RankOf(globalRank int) int {
	rank := -1
	g.use("dist.ProcessGroup.RankOf", func(group c.ProcessGroup) *c.Failure {
		rank = c.RankOf(group, globalRank)
		return nil
	})
	return rank
}

// Ranks are all members' numbers in the group that sub-groups began with, in order of rank.
func (g *ProcessGroup) Ranks() []int {
	ranks := make([]int, g.size)
	for i := range ranks {
		ranks[i] = g.GlobalRank(i)
	}
	return ranks
}
