// Package dist trains on many processes: process groups and their collectives, the stores through which processes
// meet, and [DDP], which averages a module's gradients over all ranks.
//
//	func main() {
//		dist.Run(func(ctx context.Context, group *dist.ProcessGroup) error {
//			model, err := dist.NewDDP(group, net)
//			if err != nil {
//				return err
//			}
//			…
//		})
//	}
//
// `tandem run -n 2 ./program` starts such a program on two processes; torchrun and schedulers that set its environment
// can as well.
//
// Groups, stores, works and DDP wrappers have to be closed: the collector does not free them, because it would do so
// at another time in each process. It reports those that were not closed.
package dist
