"""Every answer of index.json comes out of the files of its machine. What is no answer, or is in no file, is named here."""

import re
import unittest

from doctor import INDEX, MACHINES, answers, files_of

# Not about the machine's answers.
DESCRIPTIONS = {"title", "kind", "source", "files", "traps"}
# (machine, answer): index.json knows it from elsewhere; the files do not have it, so it must be null with a reason.
IN_NO_FILE = {
    ("azure-ndv4-8xA100", "nvlink_via_switch"),
    ("azure-ndv4-8xA100", "nvidia_smi_would_show"),
    ("aws-p4d-8xA100", "nvlink_via_switch"),
    ("aws-p4d-8xA100", "nvidia_smi_would_show"),
    ("h200-2gpu-vm", "nccl"),
}
# (machine, answer): measured by whoever made the fixture; there is no such answer.
MEASURED_ELSEWHERE = {("h200-2gpu-vm", "measured")}


def holds(expected, got):
    """got has all that expected has; objects may have more."""
    if isinstance(expected, dict):
        return isinstance(got, dict) and all(k in got and holds(v, got[k]) for k, v in expected.items())
    if isinstance(expected, list):
        return isinstance(got, list) and len(got) == len(expected) and all(map(holds, expected, got))
    return type(got) is not bool and expected == got if not isinstance(expected, bool) else got is expected


def is_near(expected, got):
    """Numbers of a measurement, which index.json rounds."""
    if isinstance(expected, dict):
        return all(is_near(value, got[key]) for key, value in expected.items())
    return abs(got - expected) <= 0.002 * expected if isinstance(expected, float) else got == expected


def nec_links(expected, got):
    """Prose: "8 GT/s x16" of switch ports and accelerators, "current 2.5 GT/s x1, max 8 GT/s" of the network card."""
    speed, width = expected["switch ports and accelerators"].rsplit(" x", 1)
    buses = [f"0000:{bus:02x}:" for bus in (0x17, 0x18, 0x19, 0x3A, 0x3B, 0x3C)]
    ports = [d for d in got["pci_links"] if d["kind"] == "bridge" and d["busid"][:8] in buses]
    fast = ports + [d for d in got["pci_links"] if d["kind"] == "accelerator"]
    slow = [d for d in got["pci_links"] if d["busid"].startswith("0000:60:00.")]
    now, most = re.fullmatch(r"current (.*) x1, max (.*)", expected["eth 0000:60:00.0/1"]).groups()
    return (
        len(ports) > 8
        and all((d["speed"], d["width"]) == (speed, int(width)) for d in fast)
        and [(d["speed"], d["width"], d["max_speed"]) for d in slow] == [(now, 1, most)] * 2
    )


def rtx_drives(expected, got):
    """not_nvme is prose after the list of buses."""
    got = dict(got["nvme"])
    listed = expected.pop("not_nvme").split(" are ")[0]
    return got.pop("not_nvme").split(" are ")[0] == listed and holds(expected, got)


def two_levels(expected, got):
    """Prose: pairs (34,36) are PIX, two pairs of one outer switch PXB."""
    buses = [gpu["busid"].split(":")[1] for gpu in got["gpu_list"]]
    pairs = [[buses.index(bus) for bus in pair.split(",")] for pair in re.findall(r"\((\w\w,\w\w)\)", expected)]
    return len(pairs) == 8 and got["switch_groups_PIX"] == pairs and got["switch_groups_PXB"] == got["switch_groups"]


def pair_kinds(expected, got):
    """Prose around the classes: each class that is named first, or "NODE on the same socket, SYS otherwise"."""
    got = got["pair_kinds"]
    words = {kind: set(re.findall(r"NV\d|NODE|SYS|PIX", text.split("(")[0])) for kind, text in expected.items()}
    return words == {kind: set(text.split(" or ")) for kind, text in got.items()}


def nested_topo(expected, got):
    expected.pop("note")  # where the file comes from
    return holds(expected, got["topo_m"])


# (machine, answer): how what is not a plain value is compared.
COMPARED = {
    ("nec-ve-8acc-2plx", "link"): nec_links,
    ("rtx6000ada-4gpu-17nvme", "nvme"): rtx_drives,
    ("rtx6000ada-4gpu-17nvme", "p2p"): lambda expected, got: is_near(expected, got["p2p"]),
    ("rtx6000ada-4gpu-17nvme", "link_at_capture"): lambda expected, got: (
        expected == got["link_at_capture"] + " at idle on the GPUs"
    ),
    ("dgx2h-16xV100-nvswitch", "two_level"): two_levels,
    ("dgx2h-16xV100-nvswitch", "nvidia_smi_would_show"): lambda expected, got: (
        expected.split(" (")[0] == got["nvidia_smi_would_show"]
    ),
    ("power9-ac922-4xV100", "topo_m"): nested_topo,
    ("paper-falcon4016", "pair_kinds"): pair_kinds,
}


class AnswersTest(unittest.TestCase):
    def test_every_answer_of_every_machine(self):
        used = set()
        for machine, facts in INDEX.items():
            got = answers(MACHINES / machine)
            for name in facts.keys() - DESCRIPTIONS:
                expected, place = facts[name], (machine, name)
                if place in MEASURED_ELSEWHERE:
                    used.add(place)
                    continue
                with self.subTest(machine=machine, answer=name):
                    if place in IN_NO_FILE:
                        used.add(place)
                        self.assertIsNone(got[name])
                        self.assertTrue(got[name + "_reason"])
                    elif place in COMPARED:
                        used.add(place)
                        self.assertTrue(COMPARED[place](expected, got), f"{expected}\n{got.get(name)}")
                    else:
                        self.assertIn(name, got)
                        self.assertTrue(holds(expected, got[name]), f"\nexpected {expected}\ngot      {got[name]}")
        self.assertEqual(used, IN_NO_FILE | MEASURED_ELSEWHERE | COMPARED.keys())

    def test_a_null_has_its_reason(self):
        for machine in INDEX:
            got = answers(MACHINES / machine)
            for name, value in got.items():
                with self.subTest(machine=machine, answer=name):
                    if value is None:
                        self.assertTrue(got.get(name + "_reason"), name)

    def test_all_files_of_the_machines_are_read(self):
        for machine in INDEX:
            got = answers(MACHINES / machine)
            unread = {file["name"] for file in got["files_left_out"]}
            self.assertLessEqual(unread, {"expected.json"}, machine)  # no file of the machine, but of its tests
            self.assertEqual({file["name"] for file in got["files"]} | unread, {path.name for path in files_of(machine)})


if __name__ == "__main__":
    unittest.main()
