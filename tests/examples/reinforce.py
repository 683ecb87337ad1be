"""Has an agent and two observers learn to balance a pole, as their user would.

    reinforce.py --tandem TOOL --program PROGRAM

Asserts that episodes grow longer, and that an agent without observers says what to do.
"""
import argparse
import sys

from launch import only, run

parser = argparse.ArgumentParser()
parser.add_argument("--tandem", required=True)
parser.add_argument("--program", required=True)
options = parser.parse_args()


def learn(workers, *more, code=0):
    flags = ["--rounds", "30", "--longest", "100", "--every", "10", "--lr", "0.02", *more]
    return run([options.tandem, "run", "-n", str(workers), "--", options.program, *flags], code=code)


steps = [float(found) for found in only(r"round \d+/30: ([\d.]+) steps", learn(3))]
if len(steps) != 3 or steps[-1] < 1.5 * steps[0]:
    sys.exit(f"episodes of {steps} steps")
only(r"start more than one worker: tandem run -n 3", learn(1, code=1))
