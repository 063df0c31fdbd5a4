// The help texts. Each fits a screen of 24 lines and 80 columns.
#pragma once

namespace falcon::cli {

inline constexpr const char* kMainHelp =
    R"(falconbench: what a GPU costs, where it sits, for real training

  falconbench --config FILE [--set KEY=VALUE]... [--output FILE]   one run, one report
  falconbench --config FILE --dry-run [--host DIR] [--json]   resolved spec and plan, nothing
        started; DIR: for the machine that these files describe
  falconbench doctor [--from FILE|DIR] [--write-system FILE]   what this host, or that dump,
        is; drafts a system file
  falconbench links [--topology T] [--json]        what the links between its GPUs carry
  falconbench data make FORMAT DIR [--train N] ... make a data set of real files
  falconbench data check FORMAT DIR                list every damaged file
  falconbench list WHAT                            what can be named; WHAT: keys, models,
        topologies, storages, precisions, parallelism, datasets, optimizers, schedules,
        samplers, findings
  falconbench --version                            all that is linked, built for and loaded

Flags of a run: --config, --set, --dry-run, --host, --json, --quiet, --verbose, and one for each
plain top-level key of a spec: --model, --topology, --devices, --precision, --output, ...
(`falconbench list keys`; --set also reaches the keys below, e.g. batch_size.per_gpu=64).

Exit codes: 0 ok, 1 internal, 2 usage or spec, 3 host lacks what was asked, 4 a worker
failed, 5 hang or deadline, 6 measurement invalid (strict), 8 report not writable,
130/143 interrupted. All but 2 leave a report with run.status.
)";

inline constexpr const char* kDoctorHelp =
    R"(falconbench doctor [--json]                    what this host is, and what is wrong
falconbench doctor --from FILE|DIR [--json]    the same of another machine, from files
falconbench doctor --write-system FILE ...     drafts a system file too, in a new file

  --from takes one file or a folder of files, each known by what is in it: outputs of
  nvidia-smi (none, -q, -q -x, topo -m, topo -p2p, nvlink -s, nvlink -R, --query-gpu with
  csv, dmon), lspci -tv and -vvv, XML of hwloc (lstopo) and of NCCL (NCCL_TOPO_DUMP_FILE),
  numactl --hardware, lscpu, /proc/driver/nvidia, p2pBandwidthLatencyTest, a sysfs
  manifest (f PATH: VALUE, l PATH -> TARGET), or a folder with a sysfs tree (DIR/sys/...).
  Where files disagree, sysfs is believed before lspci, hwloc, NCCL and topo -m.

  --json prints one object: each answer by its name, or null with NAME_reason where the
  files do not tell. GPUs count from 0 in NVML's order. Exit 0 when a file could be read.
)";

inline constexpr const char* kLinksHelp =
    R"(falconbench links [options]     what the links of this host carry, measured in a minute
  --system FILE     system file: names of GPUs, pair classes, expected figures of links
  --topology T      a set of GPUs by its name or address (default: all); cpu: host memory
                    and collectives between CPU workers, on any machine
  --devices N       how many of that set, in its order
  --timeout-s N     give up after so many seconds
  --output FILE     write all figures as JSON (schemas/links.schema.json)
  --json            the same on stdout instead of tables
  --quiet, --verbose

Copies between every two GPUs, by copy engines and by kernels, one way and both ways, with
peer access and staged through host memory; copies between each GPU and pinned host memory
near it, alone and all at once; latencies; all-reduce, all-gather, reduce-scatter and
broadcast with NCCL, with peer-to-peer transport and without. Contents are checked after
every window; speeds are medians of five. It says what is slower than expected, and why.

Exit codes: 0 measured, 2 usage, 3 no GPU, 4 a copy or worker failed, 5 one did not end.
)";

inline constexpr const char* kDataHelp =
    R"(falconbench data make FORMAT DIR [options]   fill an empty or absent folder
  --train N      samples in train/ (default 512)
  --val N        samples in val/ (default 0)
  --classes N    number of classes (default: imagefolder 4, coco and yolo 8)
  --side N       mean longer side, pixels (default: imagefolder 500, coco and yolo 640)
  --quality N    JPEG quality, 1 to 100 (default 90)
  --boxes N      coco, yolo: mean number of objects in a picture (default 7)
  --seed N       seed of the contents (default 0)
  --seed N       seed of the contents (default 0)

falconbench data check FORMAT DIR            decode everything, list what is damaged
  exit 0: all usable, 2: something is damaged (each named with its reason)

--storage NAME --system FILE: DIR is below the mount of that storage of the system file.
FORMAT: see `falconbench list datasets` (synthetic needs no folder).
)";

}  // namespace falcon::cli
