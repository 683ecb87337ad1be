// Package elastic trains while ranks come and go: a process that is lost costs the steps since the last commit, and not the
// run; one that is started again, or a spare, takes its place; others join between two steps. Survivors go on in the same
// process.
//
//	func main() {
//		dist.Main(func(ctx context.Context) error {
//			net, sgd := NewNet(), ...
//			var place elastic.Place // in the data
//			state := checkpoint.State{Model: net, Optimizer: sgd, Loader: &place, Values: &epoch}
//			_, err := elastic.Run(ctx, &state, func(ctx context.Context, job *elastic.Job) error {
//				model, err := dist.NewDDP(job.Group(), net)
//				...
//				loader := ... // of job.Rank() and job.Size()
//				if err := place.Follow(loader); err != nil { ... }
//				for ... {
//					... backward, step of the optimizer, loader.Commit() ...
//					if err := job.Step(); err != nil {
//						return err
//					}
//				}
//			})
//			return err
//		})
//	}
//
// Under `tandem run`; docs/elastic.md says what happens when.
package elastic
