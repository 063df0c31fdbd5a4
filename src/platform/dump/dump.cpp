#include "platform/dump/dump.h"

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/text.h"
#include "falconbench/errors.h"
#include "platform/dump/captured_text.h"
#include "platform/dump/kinds.h"
#include "platform/dump/lines.h"

namespace falcon::platform {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFileBytes = 64u << 20;

// Part of a file: one output, from the line that begins it on.
struct Section {
  const OutputKind* kind;
  std::string text;
};

const OutputKind* begun_by(std::string_view line) {
  const auto kinds = output_kinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [&](const OutputKind& one) { return one.begins(line); });
  return kind == kinds.end() ? nullptr : &*kind;
}

std::vector<Section> sections_of(std::string_view text) {
  std::vector<Section> sections;
  for (const std::string& line : clean_lines(text)) {
    const OutputKind* begun = begun_by(line);
    if (begun != nullptr &&
        (sections.empty() || begins_another(line, *begun, *sections.back().kind))) {
      sections.push_back({begun, ""});
    }
    if (!sections.empty()) sections.back().text.append(line).append("\n");
  }
  // The last line has an end only where the file has it.
  if (!sections.empty() && !text.ends_with('\n')) sections.back().text.pop_back();
  return sections;
}

void read_part(const std::string& file, const char* title, bool is_whole, std::string_view text,
               ReadInto read, Dump& dump) {
  try {
    if (!is_whole) throw Error(ExitCode::kUsage, "ends within a line: is it cut off?");
    read(file, text, dump);
    dump.files.emplace_back(file, title);
  } catch (const Error& error) {
    dump.left_out.emplace_back(file, std::string(title) + ": " + error.what());
  }
}

void read_text(const std::string& name, std::string_view bytes, Dump& dump) {
  const std::string file = as_utf8(name);
  const std::string text = without_wrapping(as_utf8(bytes));
  for (const WholeKind& kind : whole_kinds()) {
    if (!kind.is(text)) continue;
    read_part(file, kind.title, !kind.is_lines || text.ends_with('\n'), text, kind.read, dump);
    return;
  }
  const std::vector<Section> sections = sections_of(text);
  if (sections.empty()) {
    dump.left_out.emplace_back(file,
                               base::trim(text).empty() ? "empty" : "of no kind that is known");
  }
  for (const auto& [kind, part] : sections) {
    const bool is_whole = kind->finds_its_end || part.ends_with('\n');
    read_part(file, kind->title, is_whole, part, kind->read, dump);
  }
}

void read_folder(const fs::path& folder, Dump& dump) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) paths.push_back(it->path());
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    const std::string name = path.filename().string();
    try {
      read_text(name, base::read_file(path.string(), ExitCode::kUsage, kMaxFileBytes), dump);
    } catch (const Error& failure) {
      dump.left_out.emplace_back(name, failure.what());
    }
  }
}

// Trees in the order in which they are believed, with what other files say about their devices.
void join(Dump& dump) {
  std::stable_sort(dump.trees.begin(), dump.trees.end(),
                   [](const PciTree& a, const PciTree& b) { return a.source < b.source; });
  for (PciTree& tree : dump.trees) {
    if (tree.source != TreeSource::kLspci) continue;
    if (dump.lspci_listing) join_listing(dump.lspci_listing->content, tree);
    if (!dump.numactl) continue;
    for (const NumactlNode& node : dump.numactl->content) {
      if (!node.cpus.empty()) tree.numa_nodes.push_back(node.id);
    }
  }
}

// As nvidia-smi nvlink -R prints them; nothing when a GPU does not tell.
std::optional<FromFile<std::vector<NvlinkGpu>>> nvlinks_of(const Host& host, const Nvml& nvml) {
  constexpr const char* kHiddenSwitch = "FFFFFFFF:FF:FF.0";
  FromFile<std::vector<NvlinkGpu>> all{"NVML", {}};
  for (const Gpu& gpu : host.gpus) {
    const auto device = nvml.device_by_uuid(gpu.uuid);
    if (!device.has_value()) return {};
    const auto links = device.value->nvlinks();
    if (!links.has_value()) return {};
    NvlinkGpu one;
    one.index = static_cast<int>(all.content.size());
    one.name = gpu.name;
    one.active = static_cast<int>(links.value->size());
    for (const NvmlLink& link : *links.value) {
      one.remotes.push_back(link.is_switch ? kHiddenSwitch : link.partner);
    }
    all.content.push_back(std::move(one));
  }
  if (all.content.empty()) return {};
  return all;
}

[[noreturn]] void refuse(const std::string& path, const Dump& dump) {
  std::string why;
  for (const auto& [name, reason] : dump.left_out) {
    why.append("\n  ").append(name).append(": ").append(reason);
  }
  throw Error(ExitCode::kUsage, base::printable(path, 400) + ": nothing in it describes a machine" +
                                    why + "\nAccepted: " + accepted_files());
}

}  // namespace

std::span<const FromFile<SmiReport>> reports_or_table(const Dump& dump) {
  if (!dump.reports.empty() || !dump.table) return dump.reports;
  return std::span(&*dump.table, 1);
}

std::string accepted_files() {
  std::vector<std::string> titles;
  for (const WholeKind& kind : whole_kinds()) titles.emplace_back(kind.title);
  for (const OutputKind& kind : output_kinds()) titles.emplace_back(kind.title);
  return base::join(titles, ", ") + "; a folder of such files, or one with a sysfs tree";
}

Dump read_dump(const std::string& path) {
  Dump dump;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    if (fs::is_directory(path + "/sys", ignored)) {
      add_root("sys", Root(path), dump);
      dump.files.emplace_back("sys", "sysfs tree");
    }
    read_folder(path, dump);
  } else {
    read_text(fs::path(path).filename().string(),
              base::read_file(path, ExitCode::kUsage, kMaxFileBytes), dump);
  }
  if (dump.files.empty()) refuse(path, dump);
  join(dump);
  return dump;
}

Dump read_this_host(const Root& root, Host host, const Nvml* nvml) {
  Dump dump;
  add_root("/sys", root, dump);
  dump.files.emplace_back("/sys", "sysfs of this host");
  dump.sysfs->content.container = host.container;
  if (host.driver.has_value()) dump.files.emplace_back("NVML", "driver of this host");
  if (nvml != nullptr) dump.nvlink_remotes = nvlinks_of(host, *nvml);
  dump.host = std::move(host);
  join(dump);
  return dump;
}

}  // namespace falcon::platform
