"""Runs the unboxed calls and then the Go test that compares with them: run.py UNBOXED FOLDER EXTENSION GO"""
import os
import pathlib
import subprocess
import sys

unboxed, folder, extension, go = sys.argv[1], pathlib.Path(sys.argv[2]), *sys.argv[3:]
subprocess.run([unboxed, folder / "cases.txt", folder / "results.txt"], check=True, stderr=subprocess.DEVNULL)
files = {"VALUES_CASES": str(folder / "cases.txt"), "VALUES_RESULTS": str(folder / "results.txt"),
         "VALUES_REFERENCE": str(pathlib.Path(__file__).parent.resolve() / "reference.txt.gz"),
         "OPERATOR_EXTENSION": extension}
test = subprocess.run([go, "test", "-count=1", "-v", "-timeout", "500s", "."], cwd=folder / "go", env=os.environ | files)
sys.exit(test.returncode)
