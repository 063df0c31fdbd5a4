#include "spec/keys.h"

#include <algorithm>
#include <vector>

#include "base/codec_describe.h"
#include "base/text.h"
#include "falconbench/catalog.h"
#include "falconbench/run_spec.h"
#include "falconbench/system_file.h"

namespace falcon::spec {
namespace {

using base::FieldInfo;
using base::Shape;

struct Key {
  std::string name;  // dotted
  std::string type;
  std::string default_text;  // empty: none, or the help says which
  std::string accepted;
  std::string help;
};

std::string type_text(const FieldInfo& info) {
  switch (info.shape) {
    case Shape::kBool:
      return "true or false";
    case Shape::kInteger:
      return "whole number";
    case Shape::kNumber:
      return "number";
    case Shape::kText:
      return info.rule.words[0] != '\0' ? "word" : "text";
    case Shape::kNameOrList:
      return "name or list";
    case Shape::kWordOrCount:
      return "word or whole number";
    case Shape::kList:
      return info.rule.words[0] != '\0' ? "list of words"
                                        : "list of " + type_text(info.members.front()) + "s";
    case Shape::kMap:
      return "map of names";
    case Shape::kStruct:
      if (!info.kind_words.empty()) return "word or map";
      return info.is_choice ? "map with one key" : "map";
    case Shape::kAny:
      break;
  }
  return "any";
}

std::string default_text(const FieldInfo& info) {
  const base::Value& value = info.default_value;
  if (info.rule.required) return "required";
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  if (value.is_number()) return base::number_text(value.as_number());
  return value.is_text() ? value.as_text() : "";
}

std::string accepted_text(const FieldInfo& info) {
  const std::string list = info.kind_words.empty() ? info.rule.words : info.kind_words;
  if (!list.empty()) {
    const std::string range = base::range_text(info.rule);
    return base::join(catalog::words(list), ", ") + (range.empty() ? "" : ", or " + range);
  }
  if (info.is_choice) return "one of " + base::join(info.member_names(), ", ");
  return base::range_text(info.rule);
}

void collect(const FieldInfo& info, const std::string& prefix, std::vector<Key>& keys) {
  for (const FieldInfo& member : info.members) {
    const std::string name = base::join_key(prefix, member.name);
    keys.push_back(
        {name, type_text(member), default_text(member), accepted_text(member), member.help});
    if (member.shape == Shape::kStruct) collect(member, name, keys);
    const bool is_map_of_structs =
        member.shape == Shape::kMap && member.members.front().shape == Shape::kStruct;
    if (is_map_of_structs) collect(member.members.front(), name + ".NAME", keys);
  }
}

template <class T>
std::vector<Key> keys_of() {
  std::vector<Key> keys;
  collect(base::describe(T()), "", keys);
  return keys;
}

std::string details(const Key& key) {
  std::string text = key.type;
  if (!key.accepted.empty()) text += "; " + key.accepted;
  if (key.default_text == "required") return text + "; required";
  return key.default_text.empty() ? text : text + "; default " + key.default_text;
}

std::string markdown_table(const std::vector<Key>& keys) {
  std::string text = "| key | type | default | accepted | meaning |\n|---|---|---|---|---|\n";
  for (const Key& key : keys) {
    const std::string shown = key.default_text.empty()         ? ""
                              : key.default_text == "required" ? "required"
                                                               : "`" + key.default_text + "`";
    text += "| `" + key.name + "` | " + key.type + " | " + shown + " | " + key.accepted + " | " +
            key.help + " |\n";
  }
  return text;
}

constexpr const char* kIntroduction =
    "# Run specs\n\n"
    "<!-- Made from the field lists in include/falconbench by spec::keys_markdown(); a test holds\n"
    "them together. -->\n\n"
    "A run spec says what to train, on what and for how long. It is a YAML or JSON file for\n"
    "`falconbench --config FILE`; `--set key=VALUE` changes one key of it, with dots between the\n"
    "levels (`--set batch_size.per_gpu=32`). VALUE is one YAML value, taken whole.\n\n"
    "- Only decimal numbers are numbers, only `true` and `false` are truth values; what YAML\n"
    "  versions read differently (`0100`, `1:30`, `1_000`, `yes`, `off`) is refused where a "
    "number\n"
    "  or truth value is expected. Anchors, aliases, tags and duplicate keys are refused.\n"
    "- An unknown key, a wrong type and keys that contradict each other end the command with exit\n"
    "  code 2; all faults are listed at once.\n"
    "- A map with one key holds exactly one of its keys: `batch_size: {per_gpu: 64}`. A word or "
    "map\n"
    "  is a word, or a map with the word and its options: `parallelism: {ddp: {bucket_mb: 50}}`.\n"
    "- Paths (`data.path`, `system`, `init`, `save_weights`, `checkpoint.path`, "
    "`checkpoint.resume`)\n"
    "  in a file are relative to that file, in a `--set` relative to the working directory; all "
    "but\n"
    "  `system` are relative to the mount of `storage` where that is given.\n"
    "- `falconbench --config FILE --dry-run` prints the spec with every default filled in.\n\n"
    "Files here: `quickstart.yaml` (trains from JPEG files that it makes once), `smoke.yaml`\n"
    "(synthetic data, the shortest run), `models/` (one commented spec a model), `systems/` (an\n"
    "example of a system file).\n\n"
    "## Keys\n\n";

constexpr const char* kSystemIntroduction =
    "\n## System file\n\n"
    "The file that `system` names: which GPUs sit in a chassis, what the storages are, and names\n"
    "for sets of GPUs. NAME is a name of your choice.\n\n";

}  // namespace

std::string keys_table() {
  const std::vector<Key> keys = keys_of<RunSpec>();
  std::size_t width = 0;
  for (const Key& key : keys) width = std::max(width, key.name.size());
  std::string text;
  for (const Key& key : keys) {
    text += key.name + std::string(width + 2 - key.name.size(), ' ') + details(key) + "\n" +
            std::string(width + 2, ' ') + key.help + "\n";
  }
  return text;
}

std::string keys_markdown() {
  return kIntroduction + markdown_table(keys_of<RunSpec>()) + kSystemIntroduction +
         markdown_table(keys_of<SystemFile>());
}

}  // namespace falcon::spec
