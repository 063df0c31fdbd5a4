"""What can be named in a spec is named in tables only: the facts (src/spec/*_facts.cpp) and the table that maps the name
to code (catalog.cpp of a folder). Elsewhere a name in quotes is a special case that the next row would miss."""

import re

from style import code_only, numbered, run

HOME = re.compile(r"(_facts|/catalog)\.cpp$")
# A finding is named where it is found: its row holds what `list` says of it.
NAMED_ELSEWHERE = re.compile(r"/finding_facts\.cpp$")
# The first word of a row ({"resnet50", make_resnet50}) or of a named field; {"a", "b"} is a list of words, no row.
ROW = re.compile(r'\{\s*"([a-z][a-z0-9_]*)",(?!\s*"[a-z0-9_]*")|\bname = "([a-z][a-z0-9_]*)"')
GENERIC = {"none", "cpu", "all", "auto", "on", "off", "step", "constant"}  # words with a meaning outside of any table
# (file, part of the finding): why it must be named there.
ALLOWED = {
    ("src/plan/resolve.cpp", '"fp16" '): "the default of the key",
    ("src/plan/resolve.cpp", '"fp32" '): "the default of the key",
    ("src/plan/resolve.cpp", '"ddp" '): "the default of the key",
    ("src/data/catalog.h", '"synthetic" '): "the default of the key",
    ("src/data/catalog.h", '"mosaic" '): "the default of the key",
    ("src/plan/resolve.cpp", '"mosaic" '): "the default of the key",
    ("src/data/detection_dataset.cpp", '"mosaic" '): "the one place where the words become code",
    ("src/data/detection_dataset.cpp", '"single" '): "the one place where the words become code",
    ("src/data/make_detection.cpp", '"coco" '): "the manifest says what it is of",
    ("src/data/make_detection.cpp", '"yolo" '): "the manifest says what it is of",
    ("src/data/catalog.h", '"classification" '): "the task of most data sets",
    ("src/data/synthetic.cpp", '"classification" '): "a table of its own: what is made for a task",
    ("src/data/synthetic.cpp", '"detection" '): "the same",
    ("src/data/synthetic.cpp", '"question_answering" '): "the same",
    ("src/data/image_folder.cpp", '"imagefolder" '): "the data set says in its description what it is",
    ("src/data/make_images.cpp", '"imagefolder" '): "the manifest says what it is of",
    ("src/data/synthetic_boxes.cpp", '"synthetic" '): "the data set says in its description what it is",
    ("src/data/make_squad.cpp", '"squad" '): "the manifest says what it is of",
    ("src/data/squad.cpp", '"squad" '): "the data set says in its description what it is",
    ("src/data/synthetic_images.cpp", '"synthetic" '): "the data set says in its description what it is",
    ("src/data/synthetic_tokens.cpp", '"synthetic" '): "the data set says in its description what it is",
    ("src/links/host_copies.cpp", '"memory" '): "what assembly changes",
    ("src/report/links/expectation.cpp", '"uplink" '): "the class of links that this place is about",
    ("src/spec/system_file.cpp", '"redfish" '): "the key of a chassis that has this name too",
    ("src/platform/machine/roster.cpp", '"nvml" '): "the name that hwloc gives a GPU's device",
}


def names_of(tree):
    found = set()
    for path, text in tree.items():
        if HOME.search(path) and not NAMED_ELSEWHERE.search(path):
            found |= {first or second for first, second in ROW.findall(code_only(text, keep_strings=True))}
    return found - GENERIC


def check(tree):
    names = names_of(tree)
    for path, text in tree.items():
        if HOME.search(path):
            continue
        for line, code in numbered(code_only(text, keep_strings=True)):
            for name in names.intersection(re.findall(r'"([a-z][a-z0-9_]*)"', code)):
                yield path, line, f'"{name}" belongs in a catalog row: make what is special about it a column there'


CATALOG = {
    "src/models/catalog.cpp": 'Row{"resnet50", make_resnet50},\n',
    "src/spec/word_facts.cpp": 'return {{"sgd", "plain or with momentum"}, {.options = {"classes", "dropout"}}};\n',
}

run(
    check,
    r"^src/.*\.(h|cpp|cu)$",
    allowed=ALLOWED,
    flagged=[
        ({**CATALOG, "src/plan/a.cpp": 'if (name == "resnet50") {\n'}, '"resnet50" belongs'),
        ({**CATALOG, "src/train/a.cpp": 'case("sgd");\n'}, '"sgd" belongs'),
        ({"src/spec/model_facts.cpp": 'facts.name = "bert_base";\n', "src/a.cpp": '"bert_base"\n'}, '"bert_base"'),
    ],
    passing=[
        {**CATALOG, "src/plan/a.cpp": 'a("classes"); b("dropout");  // "resnet50"\n'},
        {"src/spec/finding_facts.cpp": '{"gpu_in_use", "by another"}\n', "src/plan/a.cpp": '"gpu_in_use"\n'},
    ],
)
