"""Outputs in the forms in which people pass them on: what doctor reads of them, and what it must leave open."""

import unittest

from doctor import DoctorTest, answers, run

LEGEND = "\nLegend:\n\n  X    = Self\n  SYS  = across sockets\n  PIX  = one bridge\n"
NVLINK = "  NV#  = NVLinks\n"
TAIL = "CPU Affinity    NUMA Affinity   GPU NUMA ID"


def square(count, cell):
    return [["X" if i == j else cell(i, j) for j in range(count)] for i in range(count)]


def matrix(cells, after=(), head=TAIL):
    """nvidia-smi topo -m with its tabs turned into blanks."""
    lines = ["        " + "".join(f"GPU{i}".ljust(8) for i in range(len(cells))) + head]
    for i, row in enumerate(cells):
        lines.append(f"GPU{i}".ljust(8) + "".join(cell.ljust(8) for cell in row) + (after[i] if after else ""))
    return "\n".join(line.rstrip() for line in lines) + "\n"


PAIR = square(2, lambda i, j: "PHB")
NV18 = square(8, lambda i, j: "NV18")
SOCKETS = square(8, lambda i, j: "NODE" if i // 4 == j // 4 else "SYS")
NEAR = ["0-31    0               N/A"] * 4 + ["32-63   1               N/A"] * 4
TREE = r"""-+-[0000:00]-+-00.0
 |           \-01.1-[01]--+-00.0
 |                        \-00.1
 \-[0000:60]---03.1-[61-64]----00.0-[62-64]--+-02.0-[63]----00.0
                                             \-04.0-[64]--
"""
SMI = """+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 560.94                 Driver Version: 560.94         CUDA Version: 12.6     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                  Driver-Model | Bus-Id          Disp.A | Volatile Uncorr. ECC |
|=========================================+========================+======================|
|   0  NVIDIA A30                   {} |   00000000:01:00.0  On |                  N/A |
|  0%   38C    P8              9W /  165W |    1234MiB /  24576MiB |      3%      Default |
|                                         |                        |             {} |
+-----------------------------------------+------------------------+----------------------+
"""
MIG = """
+---------------------------------------------------------------------------------------+
| MIG devices:                                                                          |
+------------------+--------------------------------+-----------+-----------------------+
| GPU  GI  CI  MIG |                   Memory-Usage |        Vol|      Shared           |
|==================+================================+===========+=======================|
|  0    3   0   0  |              12MiB /  5952MiB  | 14      0 |  1   0    1    0    0 |
|                  |               0MiB /  8191MiB  |           |                       |
+------------------+--------------------------------+-----------+-----------------------+
"""


def links(gpu, partner, count=12):
    heading = f"GPU {gpu}: NVIDIA H100 PCIe (UUID: GPU-{gpu})\n"
    return heading + "".join(f"\t Link {i}: Remote Device {partner(i)}: Link {i}\n" for i in range(count))


def nccl(devices, numa=0):
    return f'<system version="1">\n <cpu numaid="{numa}">\n{devices} </cpu>\n</system>\n'


def gpu_element(bus, dev, inside="", numbers='vendor="0x10de" device="0x20b5" '):
    return f'  <pci busid="{bus}" class="0x030200" {numbers}><gpu dev="{dev}">{inside}</gpu></pci>\n'


def to_itself(bus, dev):
    return gpu_element(bus, dev, f'<nvlink target="{bus}" count="12" tclass="0x030200"/>')


class FormsTest(DoctorTest):
    def check(self, texts, **expected):
        folder = self.folder / f"{len(list(self.folder.iterdir()))}"
        folder.mkdir()
        for name, text in texts.items():
            (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        paths = sorted(folder.iterdir())
        got = answers(folder if len(paths) > 1 else paths[0])
        seen = dict(got)
        seen["findings"] = sorted({finding["id"] for finding in got["findings"]})
        seen["left_out"] = [file["name"] for file in got["files_left_out"]]
        seen["widths"] = [link["width_cur"] for link in got["links"] or []]
        for name, value in expected.items():
            with self.subTest(files=list(texts), answer=name):
                self.assertEqual(seen[name], value)
                if value is None:
                    self.assertTrue(got[name + "_reason"])
        return got

    def test_what_is_around_an_output(self):
        plain = matrix(PAIR, ["0-31    0               N/A"] * 2)
        tabs = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPHB\t0-31\nGPU1\tPHB\t X \t0-31\n"
        table = "| | GPU0 | GPU1 | CPU Affinity |\n|---|---|---|---|\n| GPU0 | X | PHB | 0-31 |\n| GPU1 | PHB | X | 0-31 |\n"
        forms = {
            "after a prompt": "root@host:~# nvidia-smi topo -m\n" + plain + "root@host:~# \n",
            "fenced": "```text\n" + plain + "```\n",
            "quoted": "".join("> " + line + "\n" for line in tabs.splitlines()),
            "indented": "".join("    " + line + "\n" for line in plain.splitlines()),
            "a table of Markdown": table,
            "of Windows": b"\xff\xfe" + plain.replace("\n", "\r\n").encode("utf-16-le"),
            "with a mark of order": b"\xef\xbb\xbf" + tabs.encode(),
            "at the margin": "\n".join(line.strip() for line in plain.splitlines()) + "\n",
        }
        for name, text in forms.items():
            self.check({name: text}, gpus=2, topo=PAIR, pcie=PAIR, nvlink_pairs=[], switch_groups=[])
        # A legend that is cut off might not have explained NVLink.
        self.check({"without a last line end": plain[:-1]}, gpus=2, topo=None, pcie=PAIR, nvlink_pairs=None, switch_groups=[])

    def test_affinities_where_blanks_hide_an_empty_column(self):
        self.check({"t": matrix(PAIR, ["0-71    0,2-17          1"] * 2)}, cpu_affinity=["0-71"] * 2, numa_affinity=["0,2-17"] * 2)
        self.check({"t": matrix(PAIR, ["0-71    1"] * 2)}, cpu_affinity=["0-71"] * 2, numa_affinity=[None] * 2)
        self.check({"t": matrix(PAIR, ["        0               N/A"] * 2)}, cpu_affinity=[None] * 2, numa_affinity=["0"] * 2)
        # Somebody aligned the columns by hand.
        tabs = "\t\tGPU0\tGPU1\tmlx5_0\tCPU Affinity    NUMA Affinity\nGPU0\t X \t\tNV1\t    PIX\t\t0-23\t\t0\nGPU1\tNV1\t \tX\t\tSYS\t24-47\t\t1\n"
        got = self.check({"t": tabs}, nvlink_pairs=[[0, 1, 1]], cpu_affinity=["0-23", "24-47"], numa_affinity=["0", "1"])
        self.assertEqual(got["nic_relation"], {"mlx5_0": {"GPU0": "PIX", "GPU1": "SYS"}})
        # With an empty affinity between tabs.
        tabs = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \tPHB\t\t0\t\tN/A\nGPU1\tPHB\t X \t0-3\t\t\tN/A\n"
        self.check({"t": tabs}, cpu_affinity=[None, "0-3"], numa_affinity=["0", None])
        # The last line may have lost a part of its affinity.
        cut = matrix(PAIR, ["0-71", "0-7"], head="CPU Affinity")[:-1]
        self.check({"t": cut}, pcie=PAIR, cpu_affinity=["0-71", None])

    def test_cells_that_lost_the_blanks_between_them(self):
        text = matrix(NV18, NEAR).replace("NV18    NV18    NV18", "NV18NV18    NV18")
        lost = text.replace("GPU1    GPU2", "GPU1GPU2")
        path = self.folder / "lost"
        path.write_text(lost)
        self.assertEqual(run("--from", path).returncode, 2)  # the header has fewer names than the rows have cells
        path.unlink()
        self.check({"t": text}, topo=NV18, cpu_affinity=["0-31"] * 4 + ["32-63"] * 4)

    def test_peer_status_without_blanks_before_it(self):
        self.check({"t": "GPU0 GPU1\nGPU0 X  CNS\nGPU1 CNS X\n"}, gpus=2, topo=None, pcie=None, findings=["peer_access_blocked"])

    def test_the_matrix_of_pcie_alone_says_nothing_about_nvlink(self):
        by_pcie = {"mp": matrix(SOCKETS, NEAR) + LEGEND}
        self.check(by_pcie, gpus=8, pcie=SOCKETS, topo=None, nvlink_pairs=None, nvlink_via_switch=None, switch_groups=[])
        self.check(by_pcie, cpu_affinity=["0-31"] * 4 + ["32-63"] * 4)
        both = by_pcie | {"m": matrix(NV18, NEAR) + LEGEND + NVLINK}
        self.check(both, pcie=SOCKETS, topo=NV18, nvlink_via_switch=True, findings=[], left_out=[])
        self.check({"m": matrix(SOCKETS, NEAR) + LEGEND + NVLINK}, topo=SOCKETS, nvlink_pairs=[])

    def test_a_gpu_that_the_fabric_lost(self):
        cells = square(8, lambda i, j: "SYS" if 2 in (i, j) else "NV18")
        self.check({"t": matrix(cells, NEAR)}, nvlink_via_switch=True, nvlink_links_per_gpu=[18, 18, 0, 18, 18, 18, 18, 18])

    def test_links_that_are_off(self):
        off = "\t NVML: Unable to retrieve NVLink information as all links are inActive\n"
        text = "".join(f"GPU {i}: NVIDIA A100-SXM4-80GB (UUID: GPU-{i})\n" + off for i in range(2))
        self.check({"s": text}, gpus=2, nvlink_links_per_gpu=[0, 0], nvlink_pairs=[], nvlink_via_switch=False)
        self.check({"s": text.replace(off, "")}, gpus=2, nvlink_links_per_gpu=None, nvlink_pairs=None)  # nvidia-smi -L
        lonely = "GPU 0: RTX 4090 (UUID: GPU-0)\n\t NVML: Unable to retrieve NVLink information: Not Supported\n"
        self.check({"s": lonely}, nvlink_links_per_gpu=[0])

    def test_partners_of_links(self):
        bridge = links(0, lambda i: "00000000:D5:00.0") + links(1, lambda i: "00000000:2A:00.0")
        gpus = "index, pci.bus_id\n0, 00000000:2A:00.0\n1, 00000000:D5:00.0\n"
        self.check({"R": bridge}, nvlink_links_per_gpu=[12, 12], nvlink_pairs=None)
        self.check({"R": bridge, "gpus": gpus}, nvlink_pairs=[[0, 1, 12]], nvlink_via_switch=False)
        bare = bridge.replace("Remote Device ", "").replace(".0: Link", ".0 Link")
        bare = "\n".join(line.split(" Link ")[0] if line.startswith("GPU") else line.rsplit(" Link", 1)[0] for line in bare.splitlines()) + "\n"
        self.check({"p": bare}, nvlink_links_per_gpu=[12, 12], nvlink_rate_per_link_GBps=None)
        switches = "".join(links(i, lambda link: f"00000000:0{5 + link % 4}:00.0", 18) for i in range(8))
        self.check({"R": switches}, nvlink_via_switch=True, topo=NV18)

    def test_several_outputs_in_one_file(self):
        states = "".join(f"GPU {i}: A (UUID: GPU-{i})\n" + "".join(f"\t Link {k}: 26.562 GB/s\n" for k in range(18)) for i in range(8))
        text = "$ nvidia-smi topo -m\n" + matrix(NV18, NEAR) + LEGEND + NVLINK + "\n$ nvidia-smi topo -mp\n" + matrix(SOCKETS) + LEGEND
        text += "\n$ nvidia-smi nvlink -s\n" + states + "\n$ lscpu\nArchitecture:  x86_64\nNUMA node0 CPU(s):  0-31\nHypervisor vendor:  KVM\n"
        got = self.check({"all.txt": text}, topo=NV18, pcie=SOCKETS, nvlink_rate_per_link_GBps=26.562, hypervisor="KVM", left_out=[])
        self.assertEqual(len(got["files"]), 4)
        twice = self.check({"twice.txt": matrix(PAIR) + "\n" + matrix(NV18)}, gpus=2, left_out=["twice.txt"])
        self.assertIn("another file of its kind", twice["files_left_out"][0]["reason"])

    def test_a_tree_without_names_tells_paths_alone(self):
        self.check({"t": "# lspci -t\n" + TREE + "# done\n"}, gpus=None, nvme=None, nics=None)
        cards = "01:00.0 VGA compatible controller [0300]: NVIDIA Corporation Device [10de:2b85] (rev a1)\n\tSubsystem: A\n--\n"
        cards += "63:00.0 VGA compatible controller [0300]: NVIDIA Corporation Device [10de:2b85] (rev a1)\n"
        cards += "$ lspci -vv -s 02:00.0\n\t\tLnkSta: Speed 8GT/s, Width x4\n"
        got = self.check({"t": TREE, "cards": cards}, gpus=2, nvme=None, nics=None, widths=[])
        self.assertEqual(got["gpu_list"][1]["root_port"], "0000:60:03.1")

    def test_switches_are_known_where_nodes_are_not(self):
        named = TREE.replace("00.0\n |                        \\", "00.0  NVIDIA Corporation A\n |                        \\")
        named = named.replace("[63]----00.0", "[63]----00.0  NVIDIA Corporation A").replace("04.0-[64]--", "04.0-[64]----00.0  NVIDIA Corporation A")
        self.check({"t": named}, gpus=3, pcie=None, topo=None, switch_groups=[[1, 2]])
        other = "01:00.0 3D controller: NVIDIA Corporation A\n65:00.0 3D controller: NVIDIA Corporation A\n"
        self.check({"t": named, "cards": other}, gpus=3, findings=["sources_disagree"])

    def test_a_listing_counts_when_it_is_no_selection(self):
        none = "00:00.0 Host bridge: Intel Corporation Device 2020\n00:02.0 VGA compatible controller: Intel Corporation UHD 630\n"
        self.check({"l": none}, gpus=0)
        self.check({"l": none.splitlines()[1] + "\n"}, gpus=None)

    def test_access_control_is_a_part_of_a_listing(self):
        port = "00:01.0 PCI bridge: A\n\t\tLnkSta: Speed 8GT/s, Width x8\n\t\tACSCtl: SrcValid+ ReqRedir+\n"
        card = "01:00.0 3D controller: NVIDIA Corporation A\n\t\tLnkCap: Speed 8GT/s, Width x16\n\t\tACSCtl: SrcValid-\n\t\tLnkSta: Speed 8GT/s, Width x4\n"
        got = self.check({"vvv": port + "\n" + card}, gpus=1, widths=[4], findings=["acs_redirects", "pcie_link_degraded"])
        self.assertEqual([file["kind"] for file in got["files"]], ["lspci -vv"])
        self.check({"acs": "\t\tACSCtl: SrcValid+ ReqRedir-\n"}, gpus=None, acs="of 1 ACSCtl lines: SrcValid is on in 1")

    def test_topologies_that_leave_things_to_nccl(self):
        # Without classes it is not told what the devices are.
        self.check({"x": nccl('  <pci busid="0000:00:16.0"/>\n  <pci busid="0000:00:17.0"/>\n')}, gpus=None, topo=None, nics=None)
        by_hand = gpu_element("0000:4f:00.0", 0, numbers="") + gpu_element("0000:60:00.0", 1, numbers="")
        self.check({"x": nccl(by_hand)}, gpus=2, nvlink_pairs=None, nvlink_links_per_gpu=None, nvlink_via_switch=None)
        dumped = gpu_element("0000:4f:00.0", 0) + gpu_element("0000:60:00.0", 1)
        self.check({"x": nccl(dumped)}, gpus=2, nvlink_pairs=[], nvlink_links_per_gpu=[0, 0])
        self.check({"x": nccl(to_itself("0001:00:00.0", 0) + to_itself("0002:00:00.0", 1))}, gpus=2, nvlink_pairs=None, nvlink_via_switch=None)
        foreign = gpu_element("0000:4f:00.0", 0, '<nvlink nlinks="18" target="1,2,3"/>')
        self.check({"x": nccl(foreign)}, gpus=1, nvlink_links_per_gpu=None)

    def test_the_table_of_windows_and_of_mig(self):
        got = self.check({"t": SMI.format("WDDM", "     N/A").replace("\n", "\r\n")}, gpus=1, driver="560.94", power_limit_W=165)
        self.assertIsNone(got["gpu_list"][0]["persistence"])
        got = self.check({"t": SMI.format(" Off", " Enabled") + MIG}, gpus=1, findings=["mig_enabled"])
        self.assertEqual(got["mig_devices"], [{"gpu": 0, "index": "0", "gi": "3", "ci": "0", "fb_total": "5952 MiB", "sm": "14"}])

    def test_a_report_of_some_of_the_gpus(self):
        one = "==NVSMI LOG==\nAttached GPUs : 8\nGPU 00000000:AD:00.0\n    Product Name : A\n"
        self.check({"q": one}, gpus=1, findings=["sources_disagree"])
        self.check({"q": one, "m": matrix(SOCKETS, NEAR)}, gpus=8)
        some = "index, pci.bus_id\n4, 00000000:AD:00.0\n5, 00000000:AE:00.0\n"
        self.check({"gpus": some}, gpus=2)
        self.check({"gpus": some, "m": matrix(SOCKETS, NEAR)}, gpus=8, findings=[])
        card = "ad:00.0 3D controller: NVIDIA Corporation A\n"
        self.check({"l": card, "gpus": "index, pci.bus_id\n0, 00000000:AD:00.0\n1, 00000000:AE:00.0\n"}, gpus=2, findings=[])
        self.check({"l": card, "m": matrix(SOCKETS, NEAR)}, gpus=8, gpu_list=None, findings=[])

    def test_a_board_that_names_a_cloud(self):
        info = '<info name="DMISysVendor" value="Amazon EC2"/><info name="DMIProductName" value="{}"/>'
        device = '<object type="PCIDev" pci_busid="0000:52:00.0" pci_type="0302 [10de:2941] [10de:2046] a1">{}</object>'
        inside = '<object type="OSDev" name="cuda0"><info name="GPUModel" value="NVIDIA GB200"/></object>'
        xml = '<topology version="2.0"><object type="Machine">' + info + device.format(inside) + "</object></topology>\n"
        got = self.check({"x": xml.format("p6e-gb200.36xlarge")}, gpus=1, virtual_machine=True, hypervisor="KVM", nvswitches=None)
        self.assertEqual(got["gpu_list"][0]["name"], "NVIDIA GB200")
        self.check({"x": xml.format("c5.metal")}, virtual_machine=None, nvswitches=[])


class RefusedTest(DoctorTest):
    def test_what_is_cut_or_empty_is_named(self):
        whole = {
            "topo": matrix(NV18, NEAR),
            "smi": SMI.format(" Off", " Enabled"),
            "csv": "index, pci.bus_id\n0, 00000000:2A:00.0\n",
            "q": "==NVSMI LOG==\nAttached GPUs : 1\nGPU 00000000:AD:00.0\n",
        }
        for name, text in whole.items():
            path = self.folder / name
            for end in range(0, len(text) - 4, 7):
                path.write_text(text[:end])
                done = run("--from", path, "--json")
                if done.returncode == 0:
                    self.assertEqual(answers(path)["gpus"], 8 if name == "topo" else 1, f"{name} cut at {end}")
                else:
                    self.assertEqual((done.returncode, done.stdout), (2, ""), f"{name} cut at {end}")
                    self.assertIn(f"{name}: ", done.stderr)
                    self.assertIn("Accepted: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
