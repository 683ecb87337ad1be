package dist

import "tandem.example/gotorch/internal/c"

// place is where the environment puts this process. What is not known, also since the environment makes no sense, which
// [Init] says, is as for a process that was started alone.
type place struct {
	rank, worldSize, localRank, localWorldSize, nodeRank int

	launcher string // "": none
	failure  *c.Failure
}

func launchPlace() place {
	p := place{worldSize: 1, localWorldSize: 1}
	rank, worldSize, localRank, localWorldSize, nodeRank, launcher, err := c.LaunchPlace()
	if err != nil {
		p.failure = err
		return p
	}
	return place{rank, worldSize, max(localRank, 0), max(localWorldSize, 1), max(nodeRank, 0), launcher, nil}
}

// Rank of this process in the default group; without one, that of the environment (RANK, or a scheduler's:
// docs/schedulers.md), or 0.
func Rank() int {
	if g := Default(); g != nil {
		return g.rank
	}
	return launchPlace().rank
}

// WorldSize is the number of processes in the default group; without one, that of the environment (WORLD_SIZE, or a
// scheduler's), or 1.
func WorldSize() int {
	if g := Default(); g != nil {
		return g.size
	}
	return launchPlace().worldSize
}

// LocalRank is this process's number on its host, which is that of its GPU: LOCAL_RANK of the environment, or a
// scheduler's, or 0.
func LocalRank() int { return launchPlace().localRank }

// LocalWorldSize is the number of processes on this host: LOCAL_WORLD_SIZE of the environment, or a scheduler's, or 1.
func LocalWorldSize() int { return launchPlace().localWorldSize }

// NodeRank is the number of this host: GROUP_RANK of the environment, or a scheduler's, or 0.
func NodeRank() int { return launchPlace().nodeRank }

// Launcher is who says which processes there are: "the environment" (RANK and others, as tandem run and torchrun set
// them), "Open MPI", "PMIx", "PMI", "Slurm", "Kubernetes", or "" where nobody does.
func Launcher() string { return launchPlace().launcher }
