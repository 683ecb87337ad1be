"""ArrayRecord's side of `loader`'s v2-read-crc: record_read.py make RECORDS.BIN FILE | read FILE PASSES."""
import json
import os
import sys
import time

from array_record.python import array_record_module

RECORD_BYTES = 1 + 28 * 28


def make(plain, path):
    """As ours is: a record alone can be had, and nothing is compressed."""
    writer = array_record_module.ArrayRecordWriter(path, "group_size:1,uncompressed")
    with open(plain, "rb") as file:
        while record := file.read(RECORD_BYTES):
            writer.write(record)
    writer.close()


def read(path, passes):
    best = float("inf")
    for _ in range(passes):
        begin = time.perf_counter()
        reader = array_record_module.ArrayRecordReader(path)  # with the read-ahead that is its default
        records = reader.read_all()
        labels = sum(record[0] for record in records)
        best = min(best, time.perf_counter() - begin)
    result = {"records_per_s": len(records) / best, "records": len(records), "labels": labels,
              "bytes": sum(map(sum, records))}
    with open(os.path.join(os.environ["BENCH_OUT"], "rank-0.json"), "w") as file:
        json.dump(result, file)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(*sys.argv[2:])
    else:
        read(sys.argv[2], int(sys.argv[3]))
