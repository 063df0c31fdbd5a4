// The help texts. Each fits a screen of 24 lines and 80 columns.
#pragma once

namespace falcon::cli {

inline constexpr const char* kMainHelp =
    R"(falconbench: what a GPU costs, where it sits, for real training

  falconbench --config FILE [--set KEY=VALUE]... [--output FILE]
                                            one run, one report
  falconbench --config FILE --dry-run [--host DIR] [--json]
                                            the plan of it; DIR: another machine
  falconbench doctor [--from FILE|DIR] [--write-system FILE]   what a host is
  falconbench links [--topology T] [--json] what the links between GPUs carry
  falconbench data make|check FORMAT DIR    make a data set, list damaged files
  falconbench compare BASE OTHER... [--gate 5%]     what is slower, how surely
  falconbench report REPORT... --html FILE  one page with all figures
  falconbench export FORMAT REPORT...       MLPerf, Prometheus, JUnit, ...
  falconbench predict --report FILE --links FILE --topology T   a run elsewhere
  falconbench list WHAT        keys, models, topologies, storages, precisions,
      parallelism, datasets, optimizers, schedules, samplers, findings
  falconbench --version                     what is linked, built for and loaded

Flags of a run: --config, --set, --dry-run, --host, --json, --quiet, --verbose,
and one for each plain top-level key of a spec: --model, --devices, ... (list
keys; --set also reaches the keys below, e.g. batch_size.per_gpu=64).
Exit codes: 0 ok, 1 internal, 2 usage or spec, 3 host lacks what was asked,
4 a worker failed, 5 hang or deadline, 6 measurement invalid (strict), 7 slower
than the gate allows, 8 report not writable, 130/143 interrupted.
)";

inline constexpr const char* kDoctorHelp =
    R"(falconbench doctor [--json]                    what this host is, and what is wrong
falconbench doctor --from FILE|DIR [--json]    the same of another machine, from files
falconbench doctor --write-system FILE ...     drafts a system file too, in a new file

  --from takes one file or a folder of files, each known by what is in it: outputs (also
  several in one file) of nvidia-smi (none, -q, -q -x, topo -m, topo -mp, topo -p2p,
  nvlink -s, nvlink -R, --query-gpu with csv, dmon), lspci -tv and -vvv, XML of hwloc
  (lstopo) and of NCCL (NCCL_TOPO_DUMP_FILE), numactl --hardware, lscpu,
  /proc/driver/nvidia, p2pBandwidthLatencyTest, a sysfs manifest (f PATH: VALUE,
  l PATH -> TARGET), or a folder with a sysfs tree (DIR/sys/...).
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

falconbench data check FORMAT DIR            decode everything, list what is damaged
  exit 0: all usable, 2: something is damaged (each named with its reason)

--storage NAME --system FILE: DIR is below the mount of that storage of the system file.
FORMAT: see `falconbench list datasets` (synthetic needs no folder).
)";

inline constexpr const char* kReportHelp =
    R"(falconbench report REPORT|DIR... --html FILE    one self-contained page
  --links FILE   a document of `falconbench links --json`: adds the table of links
  --csv DIR      every chart and table of it as a CSV file, too (or instead)
  --price X [--currency WORD]                    price of a GPU for an hour: adds a chart

A DIR stands for all its *.json. The page loads nothing from a network, saves each chart
as SVG and each table by a button, and follows the reader's light or dark setting.
Exit: 0 written, 2 a report cannot be read, 8 the page cannot be written.
)";

inline constexpr const char* kExportHelp =
    R"(falconbench export FORMAT REPORT|DIR... [--output PATH]
  To standard output, or to the file or folder given. A DIR stands for all its *.json.
  Exit: 0 written, 2 a report cannot be read, 8 PATH cannot be written. FORMAT:
)";

inline constexpr const char* kPredictHelp =
    R"(falconbench predict --report FILE [options]     a measured run on other links
  --links FILE --topology T   what `falconbench links --json` measured; T: all,
                 localGPUs, falconGPUs, hybridGPUs, or host_staged (all of them,
                 without direct access)
  --system FILE --topology T  instead: a set of a system file at the speeds that
                 its `links:` declares (not measured: a wider band)
  --host DIR [--system FILE]  instead: the machine of these files (as for doctor
                 --from), undeclared links as fast as such links are elsewhere
  --bus-bandwidth GB/s [--latency-us L]   instead: a ring of this speed a hop
  --measured-links FILE       such a document of the machine that the run was on
                 (default: that of --links)
  --measured-on T             the links that it used there (default: all; of an
                 emulated run host_staged)
  --devices N    (default: as measured)
  --network GB/s [--network-latency-us L] [--per-host N]    more than one host
                 has: what joins hosts, each of N GPUs (default: all of the set)
  --level GPUS:GB/s[:L]       what joins groups of so many GPUs; may be repeated
  --compute-scale X           computation takes X times as long there
  --json
Says time of a step with its error band, exposed communication, the bottleneck.
Exit: 0, 2 when a file cannot be read or lacks what is needed, 3 no such GPUs.
)";

inline constexpr const char* kCompareHelp =
    R"(falconbench compare REPORT|DIR... [options]    what is slower than what, and how sure
  --base REPORT|DIR  what the others are compared with, may be repeated (default: the
                 first report and its repeats; a DIR stands for all its *.json)
  --gate P%      exit 7 when training.throughput.samples_per_s tells a slowdown above P:
                 with repeats, rank test and t test must both show it; with one run on a
                 side it must be above three times the interval of the mean step
  --significance P   one-sided, for the gate (default 0.05)
  --force        compare different work, too (model, data, batch, precision, ...)
  --format table|markdown|csv|json|junit         (--json: json)
  --price X [--currency WORD]                    price of a GPU for an hour: samples for it

Reports that differ only in seed, name, output, paths or telemetry are repeats. Topology,
storage, parallelism and engine are what is compared. slowdown = time / time of base - 1.
Exit: 0 no regression, 2 cannot be read or compared, 7 regression.
)";

}  // namespace falcon::cli
