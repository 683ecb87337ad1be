"""Called by script/bench, which has built everything: python -m driver [NAME...] [--rounds N] [--only CASE]."""
import argparse
import os
import sys

from . import (against, allreduce, checkpoint, data_parallel, ddp_parts, ddp_statistics, ddp_step, exported, figures, gpu_step,
               hogwild, interop, jit, leases, loader, measure, op_overhead, pipeline, places, recovery, report, rpc, scaling, startup,
               train_step)

BENCHMARKS = {"startup": startup.benchmark, "ddp-step": ddp_step.benchmark, "op-overhead": op_overhead.benchmark,
              "allreduce": allreduce.benchmark, "ddp-parts": ddp_parts.benchmark, "ddp-statistics": ddp_statistics.benchmark,
              "data-parallel": data_parallel.benchmark, "loader": loader.benchmark,
              "checkpoint": checkpoint.benchmark, "leases": leases.benchmark, "scaling": scaling.benchmark,
              "train-step": train_step.benchmark, "jit": jit.benchmark, "exported": exported.benchmark,
              "recovery": recovery.benchmark, "pipeline": pipeline.benchmark, "rpc": rpc.benchmark, "hogwild": hogwild.benchmark}
# Only where they are named: they need what few machines have.
NAMED = {"gpu-step": gpu_step.benchmark}


def main():
    parser = argparse.ArgumentParser(prog="script/bench")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(BENCHMARKS)} (default: all), or gpu-step, interop, figures")
    parser.add_argument("--rounds", type=int, default=5, help="alternating runs of each side, at least 5")
    parser.add_argument("--only", action="append", metavar="CASE",
                        help="this case alone, of a benchmark that has several; of figures: this one; may be given "
                             "several times")
    parser.add_argument("--against", metavar="COMMIT",
                        help="measure Tandem alone: this tree's build and a commit's, in alternating runs")
    args = parser.parse_args()
    names = args.names or list(against.BENCHMARKS if args.against else BENCHMARKS)
    missed = []
    for name in names:
        if name not in BENCHMARKS and name not in NAMED and name not in ("interop", "figures"):
            parser.error(f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}, gpu-step, interop and figures")
        if args.against and name not in against.BENCHMARKS:
            parser.error(f"--against measures {', '.join(against.BENCHMARKS)}, not {name}")
    if args.rounds < 5:
        parser.error("--rounds: a median needs at least 5 runs")

    os.makedirs(places.RESULTS, exist_ok=True)
    for name in names:
        print(f"== {name}", flush=True)
        try:
            if name == "interop":
                interop.check()
                continue
            if name == "figures":
                figures.draw_all(lambda text: print(text, flush=True), args.only)
                continue
            if args.against:
                entries = against.benchmark(name, args.against, args.rounds, lambda text: print(text, flush=True),
                                            args.only)
            else:
                entries = (BENCHMARKS | NAMED)[name](args.rounds, lambda text: print(text, flush=True), args.only)
        except measure.BenchError as error:
            sys.exit(f"script/bench: {name}: {error}")
        if not entries:
            sys.exit(f"script/bench: {name}: there is no case {' or '.join(args.only)}")
        path = os.path.join(places.RESULTS, f"{name}-against.json" if args.against else name + ".json")
        report.write(path, entries)
        print(report.table(entries))
        print(f"written to {os.path.relpath(path, places.ROOT)}")
        if args.against:
            line, held = against.verdict(entries)
            print(f"{name}: {line}")
            if not held:
                missed.append(name)
    if missed:
        sys.exit(f"script/bench: slower than {args.against}: {', '.join(missed)}")


if __name__ == "__main__":
    main()
