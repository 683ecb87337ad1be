"""Fails naming each Go file that gofmt would change.

    format.py GOFMT FOLDER...
"""
import subprocess
import sys

found = subprocess.run([sys.argv[1], "-l", *sys.argv[2:]], check=True, capture_output=True, text=True).stdout
if found:
    sys.exit(f"run gofmt -w on:\n{found}")
