"""Files that are missing, renamed, cut or written elsewhere: an answer may then be null, but never another one."""

import itertools
import re
import shutil
import unittest

from doctor import INDEX, MACHINES, DoctorTest, answers, files_of, run

# What single files say, and names that follow from them: not answers about the machine.
OF_FILES = {"files", "files_left_out", "findings", "topo_m", "derived", "per_file", "p2p", "acs", "expected", "peer_status"}
# nvidia-smi numbers the network cards, the PCI tree names them: without its matrix the names are others.
NAMED_BY_SOURCE = {"nics", "nic_relation"}


def plain(value):
    """Numbers and addresses in the one form that several tools write differently."""
    if isinstance(value, str):
        if match := re.fullmatch(r"[0-9a-fA-F]{4}([0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.\d)", value):
            return match[1].lower()
        if match := re.fullmatch(r"(\d+)x?", value):
            return int(match[1])
    return value


def is_weaker(full, got):
    """Whether got says nothing that full does not say."""
    full, got = plain(full), plain(got)
    if got is None or got == full:
        return True
    if isinstance(full, dict) and isinstance(got, dict):
        return all(key.endswith("_reason") or (key in full and is_weaker(full[key], got[key])) for key in got)
    if isinstance(full, list) and isinstance(got, list):
        return len(full) == len(got) and all(map(is_weaker, full, got))
    return isinstance(got, str) and got.startswith("unknown")  # the state of a link


def is_same(full, got):
    """Apart from reasons, which name files."""
    if isinstance(full, dict) and isinstance(got, dict):
        keys = {key for key in full if not key.endswith("_reason")}
        return keys == {key for key in got if not key.endswith("_reason")} and all(is_same(full[k], got[k]) for k in keys)
    if isinstance(full, list) and isinstance(got, list):
        return len(full) == len(got) and all(map(is_same, full, got))
    return full == got


class VariantsTest(DoctorTest):
    def check(self, full, got, what):
        for name, value in got.items():
            if name in OF_FILES | NAMED_BY_SOURCE or name.endswith("_reason"):
                continue
            with self.subTest(what=what, answer=name):
                if name == "nvidia_smi_would_show" and full[name] is None and value is not None:
                    cells = {cell for i, row in enumerate(full["topo"]) for j, cell in enumerate(row) if i != j}
                    self.assertEqual({value.split(" ")[0]}, cells)
                else:
                    self.assertTrue(is_weaker(full[name], value), f"\nall files {full[name]}\nnow       {value}")

    def test_without_one_file(self):
        for machine in INDEX:
            full = answers(MACHINES / machine)
            if machine == "single-gpu-xml" or len(files_of(machine)) == 1:
                continue  # the first: its files are of different machines
            for left_out in files_of(machine):
                folder = self.copy(machine, f"{machine}-{left_out.name}")
                (folder / left_out.name).unlink()
                self.check(full, answers(folder), f"{machine} without {left_out.name}")

    def test_one_file_alone(self):
        for machine in INDEX:
            if machine == "single-gpu-xml":
                continue
            full = answers(MACHINES / machine)
            for path in files_of(machine):
                if path.name != "expected.json":
                    self.check(full, answers(path), f"{machine}: {path.name} alone")

    def test_two_files(self):
        for machine in ("h200-2gpu-vm", "rtx6000ada-4gpu-17nvme", "paper-falcon4016"):
            full = answers(MACHINES / machine)
            pairs = itertools.combinations([path for path in files_of(machine) if path.suffix != ".json"], 2)
            for number, pair in enumerate(pairs):
                folder = self.folder / f"{machine}-{number}"
                folder.mkdir()
                for path in pair:
                    shutil.copy(path, folder)
                self.check(full, answers(folder), f"{machine}: {[path.name for path in pair]}")

    def test_other_names_and_line_ends(self):
        for machine in INDEX:
            full = answers(MACHINES / machine)
            folder = self.folder / machine
            folder.mkdir()
            for number, path in enumerate(files_of(machine)):
                (folder / f"part {number}").write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
            got = answers(folder)
            names = {"files", "files_left_out", "findings", "per_file", "peer_status"}  # these name files
            for name in full:
                if name not in names and not name.endswith("_reason"):
                    with self.subTest(machine=machine, answer=name):
                        self.assertTrue(is_same(full[name], got[name]), f"{full[name]}\n{got[name]}")

    def test_files_that_are_cut_off(self):
        for machine in INDEX:
            for path in files_of(machine):
                data = path.read_bytes()
                if path.name == "expected.json":
                    continue
                full = answers(path)
                for part in (0.05, 0.3, 0.5, 0.7, 0.9, 0.99):
                    end = int(len(data) * part)
                    while data[end - 1 : end] == b"\n":
                        end -= 1
                    cut = self.folder / path.name
                    cut.write_bytes(data[:end])
                    done = run("--from", cut, "--json")
                    if done.returncode == 0:
                        self.check(full, answers(cut), f"{machine}: {path.name} cut at {end}")
                    else:
                        self.assertEqual((done.returncode, done.stdout), (2, ""))
                        self.assertIn(path.name, done.stderr)
                        self.assertIn("Accepted: ", done.stderr)


class RefusalTest(DoctorTest):
    def test_what_is_no_description_is_refused_by_name(self):
        (self.folder / "a.txt").write_text("nothing of the kind\n")
        (self.folder / "b.xml").write_text("<topology version='2.0'>\n")
        (self.folder / "empty").write_text("")
        (self.folder / "binary").write_bytes(bytes(range(256)) * 8)
        for path in (self.folder, *self.folder.iterdir(), self.folder / "not there"):
            done = run("--from", path)
            self.assertEqual((done.returncode, done.stdout), (2, ""), path)
            self.assertIn(path.name, done.stderr)
        self.assertIn("not whole XML", run("--from", self.folder / "b.xml").stderr)

    def test_a_good_file_among_bad_ones(self):
        folder = self.copy("dgx1-8xV100")
        (folder / "notes.txt").write_text("bought in 2018\n")
        (folder / "cut.xml").write_text("<system version='1'>\n")
        got = answers(folder)
        self.assertEqual(got["gpus"], 8)
        self.assertEqual([file["name"] for file in got["files_left_out"]], ["cut.xml", "notes.txt"])

    def test_bytes_that_are_no_text(self):
        folder = self.copy("rtx4090-8gpu-narrow-links")
        (folder / "gpus.csv").write_bytes((folder / "gpus.csv").read_bytes().replace(b"GeForce", b"Ge\xae\x00rce"))
        got = answers(folder)
        self.assertEqual(got["gpus"], 8)
        self.assertIn("?", got["gpu_list"][0]["name"])

    def test_files_of_different_machines_are_a_finding(self):
        folder = self.copy("dgx1-8xV100")
        shutil.copy(MACHINES / "h800-8gpu-nvswitch/nccl_topo.xml", folder)
        got = answers(folder)
        self.assertIn("sources_disagree", {finding["id"] for finding in got["findings"]})
        shutil.copy(MACHINES / "h200-2gpu-vm/topo_m.txt", folder / "topo_of_another.txt")
        self.assertEqual(len(answers(folder)["files_left_out"]), 1)  # of two matrices the first counts

    def test_words_that_are_not_known(self):
        for words in (["--form", "x"], ["x"], ["--from"], ["--json", "--from"]):
            done = run(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn("--from", done.stderr)


class HostTest(DoctorTest):
    def test_this_host_without_root_and_without_gpu(self):
        done = run()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("GPUs", done.stdout)
        self.assertEqual(run("--json").returncode, 0)

    def test_the_page_names_what_is_wrong(self):
        page = run("--from", MACHINES / "rtx4090-8gpu-narrow-links").stdout
        for word in ("x4 of x16", "Gen3", "GPU 6, 7", "What is wrong"):
            self.assertIn(word, page)
        self.assertIn("falcon 2", run("--from", MACHINES / "paper-falcon4016").stdout)
        self.assertIn("MIG", run("--from", MACHINES / "a100-mig-1gpu").stdout)


if __name__ == "__main__":
    unittest.main()
