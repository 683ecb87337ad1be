"""What a benchmark writes: entries of build/bench/NAME.json, and the table on the terminal."""
import json
import os
import statistics


def entry(case, ours, peer, peer_name, unit, *, ranks, threads, front_end="go", rate=False):
    """One comparison. `ours` and `peer` are measurements of alternating runs, at least five each.

    The ratio is of the medians, and below 1 is always better: ours / peer, for a rate peer / ours.
    """
    if min(len(ours), len(peer)) < 5:
        raise ValueError(f"{case}: a ratio needs at least 5 runs a side, not {len(ours)} and {len(peer)}")
    ours, peer = statistics.median(ours), statistics.median(peer)
    return {"case": case, "ours": ours, "peer": peer, "peer_name": peer_name, "unit": unit,
            "ratio": peer / ours if rate else ours / peer, "front_end": front_end, "ranks": ranks,
            "threads": threads}


def write(path, entries):
    """Replaces `path` as a whole."""
    temporary = path + ".new"
    with open(temporary, "w") as file:
        json.dump(entries, file, indent=2)
        file.write("\n")
    os.replace(temporary, path)


def table(entries):
    """The entries as aligned text."""
    rows = [("case", "ours", "peer", "unit", "ratio", "peer's name", "front end", "ranks", "threads")]
    for e in entries:
        rows.append((e["case"], f"{e['ours']:.4g}", f"{e['peer']:.4g}", e["unit"], f"{e['ratio']:.3f}", e["peer_name"],
                     e["front_end"], str(e["ranks"]), str(e["threads"])))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    numeric = {1, 2, 4, 7, 8}
    return "\n".join("  ".join(cell.rjust(width) if i in numeric else cell.ljust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows)
