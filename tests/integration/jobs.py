"""Runs that are started as several processes, as torchrun, mpirun and srun start them."""

import os
import socket
import threading

import runs

LONG_RUN = {"budget": {"steps": 1000000}}


def free_port(address):
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]


def by_hand(rank, world, local_rank, local_world, address, port, host):
    """The environment of one process, as torchrun would set it, without an agent."""
    return {
        "RANK": str(rank),
        "WORLD_SIZE": str(world),
        "LOCAL_RANK": str(local_rank),
        "LOCAL_WORLD_SIZE": str(local_world),
        "MASTER_ADDR": address,
        "MASTER_PORT": str(port),
        "FALCONBENCH_HOSTNAME": host,
    }


class Proxy:
    """Forwards one address to another, until it is told to stop: then nothing comes through any more, and no
    connection is closed."""

    def __init__(self, listen, target):
        self.target = target
        self.may_forward = threading.Event()
        self.may_forward.set()
        self.sockets = []
        self.server = socket.create_server(listen)
        self.sockets.append(self.server)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            try:
                other = socket.create_connection(self.target, timeout=5)
            except OSError:  # not there yet: the client tries again
                client.close()
                continue
            other.settimeout(None)
            self.sockets += [client, other]
            for source, sink in ((client, other), (other, client)):
                threading.Thread(target=self._forward, args=(source, sink), daemon=True).start()

    def _forward(self, source, sink):
        try:
            while data := source.recv(65536):
                self.may_forward.wait()
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def stop(self):
        self.may_forward.clear()

    def close(self):
        for one in self.sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()
        self.may_forward.set()


class JobTest(runs.RunTest):
    """Starts ranks by hand; two hosts of two ranks are told apart by FALCONBENCH_HOSTNAME."""

    def write_spec(self, name="run.json", **changes):
        return super().write_spec(name, **{"devices": None, **changes})

    def start_job(self, environments, *arguments):
        return [
            self.start(*(arguments or ("--config", "run.json", "--output", "out.json")), **environment)
            for environment in environments
        ]

    def two_hosts(self, second_address=None):
        """The running processes by rank. The head is on 127.0.0.2; the second host finds it at second_address."""
        self.port = free_port("127.0.0.2")
        addresses = ["127.0.0.2", second_address or "127.0.0.2"]
        return self.start_job(
            [by_hand(r, 4, r % 2, 2, addresses[r // 2], self.port, "AB"[r // 2]) for r in range(4)]
        )

    def assert_over(self, processes, seconds):
        """Exit codes by rank, once all have ended."""
        return [process.end(seconds).code for process in processes]

    def assert_one_run(self, report, world):
        self.assertEqual(report["run"]["status"], "ok", report["error"])
        self.assertEqual([rank["rank"] for rank in report["ranks"]], list(range(world)))
        self.assertEqual(len({rank["parameter_hash"] for rank in report["ranks"]}), 1)
        self.assertTrue(all(rank["steps"] == 4 for rank in report["ranks"]))
        self.assert_valid(report)


def site_packages():
    """The folder with the LibTorch that the program was built with: a whole torch, with torchrun."""
    build = runs.pathlib.Path(runs.PROGRAM).resolve().parent.parent
    stamp = build / "setup/libtorch"
    return os.environ.get("FALCONBENCH_LIBTORCH") or (stamp.read_text().strip() if stamp.is_file() else "")
