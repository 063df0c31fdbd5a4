"""Inside a network namespace of its own: makes a second one, joins both by a veth pair, and runs two ranks in each.

    two_namespaces.py FOLDER PROGRAM none|kill|cut

kill: a worker of the second host is killed while measuring; cut: the link goes down. Prints exit codes by rank and the
seconds from the action to the end as JSON; ends with 77 and the reason where the kernel refuses."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from jobs import by_hand
from runs import wait_until, workers_of

WAIT_S = 200
FIRST, SECOND = "10.77.0.1", "10.77.0.2"


def ip(*words, inside=()):
    subprocess.run([*inside, "ip", *words], check=True, capture_output=True, text=True)


def join_namespaces(other):
    inside = ("nsenter", "--target", str(other), "--net")
    ip("link", "add", "hostA", "type", "veth", "peer", "name", "hostB")
    ip("link", "set", "hostB", "netns", str(other))
    for name, address, where in (("hostA", FIRST, ()), ("hostB", SECOND, inside)):
        ip("address", "add", f"{address}/24", "dev", name, inside=where)
        ip("link", "set", name, "up", inside=where)
        ip("link", "set", "lo", "up", inside=where)
    return inside


def start(folder, program, rank, inside):
    environment = by_hand(rank, 4, rank % 2, 2, FIRST, 29500, "AB"[rank // 2])
    with open(folder / f"err{rank}", "wb") as err:
        return subprocess.Popen(
            [*inside, program, "--config", "run.json", "--output", "out.json"],
            cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=err,
        )


def main():
    folder, program, action = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
    running = []
    try:
        own = os.readlink("/proc/self/ns/net")
        wait_until(lambda: os.readlink(f"/proc/{holder.pid}/ns/net") != own, 10, "a second namespace")
        inside = join_namespaces(holder.pid)
        running = [start(folder, program, rank, inside if rank > 1 else ()) for rank in range(4)]
        if action != "none":
            wait_until(lambda: "measuring step" in (folder / "err0").read_text(errors="replace"), WAIT_S, "steps")
        began = time.monotonic()
        if action == "kill":
            os.kill(workers_of(running[2].pid)[0], signal.SIGKILL)
        if action == "cut":
            ip("link", "set", "hostA", "down")
        codes = [process.wait(timeout=WAIT_S) for process in running]
        errors = [(folder / f"err{rank}").read_text(errors="replace")[-500:] for rank in range(4)]
        print(json.dumps({"codes": codes, "seconds": time.monotonic() - began, "errors": errors}))
    except (subprocess.CalledProcessError, AssertionError) as error:
        if not running:
            print(f"two namespaces cannot be joined here: {getattr(error, 'stderr', '') or error}")
            sys.exit(77)
        raise
    finally:
        for process in [*running, holder]:
            process.kill()


main()
