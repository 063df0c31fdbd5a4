"""No key without effect, as far as a plan or a refusal shows it, and that no key is without such a test."""

import json
import unittest

import run_keys
from runs import RunTest

# key -> (two settings, what of the plan differs). A list of settings goes together.
PLANNED = {
    "model": ("model=resnet50", "model=mobilenet_v2", "memory.weights_bytes"),
    "devices": ("devices=1", "devices=2", "ranks"),
    "storage": (["storage=disk_a"], ["storage=disk_b"], "data.folder"),
    "data.format": ("data={format: imagefolder, path: set}", "data={format: synthetic}", "data.samples"),
    "data.path": ("data.path=set", "data.path=other", "data.folder"),
    "data.train": ("data.train=train", "data.train=val", "data.samples"),
    "data.val": ("data.val=val", "data.val=train", "data.validation"),
    "data.annotations": ("data.annotations=annotations/half.json",
                         "data.annotations=annotations/instances_train.json", "data.samples"),
    "data.doc_stride": ("data.doc_stride=8", "data.doc_stride=48", "data.samples"),
    "data.samples": ("data.samples=100", "data.samples=200", "data.samples"),
    "data.make.train": ("data.make.train=20", "data.make.train=40", "data.samples"),
    "data.make.classes": ("data.make.classes=2", "data.make.classes=3", "data.classes"),
    "data.loader.threads": ("data.loader.threads=1", "data.loader.threads=3", "ranks"),
    "precision": ("precision=fp32", "precision=bf16", "memory.activations_bytes"),
    "parallelism": ("parallelism=ddp", "parallelism=none", "parallelism"),
    "batch_size.global": ("batch_size.global=4", "batch_size.global=8", "global_batch"),
    "batch_size.per_gpu": ("batch_size.per_gpu=4", "batch_size.per_gpu=8", "batch_per_rank"),
    "accumulate": ("accumulate=1", "accumulate=2", "global_batch"),
    "budget.epochs": ("budget.epochs=1", "budget.epochs=2", "measured_steps"),
    "budget.steps": ("budget.steps=1", "budget.steps=2", "measured_steps"),
    "budget.seconds": ("budget.seconds=1", "budget.steps=2", "measured_steps"),
    "warmup_steps": ("warmup_steps=1", "warmup_steps=2", "warmup_steps"),
    "evaluate": ("evaluate=false", "evaluate=true", "data.validation"),
    "checkpoint.every": ("checkpoint.every=epoch", "checkpoint.every=2", "checkpoint_steps"),
    "checkpoint.path": ("checkpoint.path=one", "checkpoint.path=other", "files.checkpoint"),
    "save_weights": ("save_weights=a.safetensors", "save_weights=b.safetensors", "files.save_weights"),
    "telemetry.raw": ("telemetry.raw=a.jsonl", "telemetry.raw=b.jsonl", "files.telemetry_raw"),
    "image_size": ("image_size=32", "image_size=64", "memory.activations_bytes"),
}
# Settings that a plan needs for the key to be there at all.
BESIDE = {
    "storage": ["system=system.yaml", "data={format: imagefolder, path: set}"],
    "data.path": ["data={format: imagefolder}"],
    "data.train": ["data={format: imagefolder, path: set}"],
    "data.annotations": ["model=yolov5n", "data={format: coco, path: boxes}"],
    "data.doc_stride": ["model=bert_base", "image_size=null", "sequence_length=96",
                        "data={format: squad, path: questions}"],
    "data.val": ["data={format: imagefolder, path: set}", "evaluate=true"],
    "checkpoint.every": ["checkpoint.path=kept", "data.samples=16"],
    "checkpoint.path": ["data.samples=16"],
    "data.make.train": ["data={format: imagefolder, path: absent, make: {train: 20}}"],
    "data.make.classes": ["data={format: imagefolder, path: absent, make: {train: 20}}"],
}
# key -> (setting, exit code, words of the message): what a machine without a GPU can show.
REFUSED = {
    "topology": ("topology=falconGPUs", 3, "falconGPUs"),
    "system": ("system=absent.yaml", 2, "absent.yaml"),
    "optimizer.kind": ("optimizer.kind=adam", 2, "sgd"),
    "emulate.falcon_link": ("emulate.falcon_link=host_staged", 2, "needs GPUs"),
    "init": ("init=absent.safetensors", 2, "absent.safetensors: no such file"),
    "checkpoint.resume": ("checkpoint.resume=absent", 2, "absent: no such file"),
    "engine.graphs": ("engine.graphs=on", 2, "needs a GPU"),
    "engine.fused": ("engine.fused=on", 2, "needs a GPU"),
    "engine.cudnn_benchmark": ("engine.cudnn_benchmark=true", 2, "needs a GPU"),
    "engine.memory_limit_gb": ("engine.memory_limit_gb=1", 2, "GPU"),
}
SYSTEM = """storage:
  disk_a: {{mount: "{0}/a", attach: local}}
  disk_b: {{mount: "{0}/b", attach: local}}
"""


def at(plan, path):
    for name in path.split("."):
        plan = plan.get(name) if plan else None
    return plan


class PlanKeysTest(RunTest):
    def setUp(self):
        super().setUp()
        for folder in ("set", "other", "a/set", "b/set"):
            self.make_pictures(folder, "--train", "16", "--val", "8", "--classes", "2", "--side", "64")
        self.ok("data", "make", "coco", "boxes", "--train", "16", "--classes", "2", "--side", "64")
        self.ok("data", "make", "squad", "questions", "--train", "24")
        annotations = json.loads((self.folder / "boxes/annotations/instances_train.json").read_text())
        annotations["images"] = annotations["images"][:8]
        kept = {image["id"] for image in annotations["images"]}
        annotations["annotations"] = [a for a in annotations["annotations"] if a["image_id"] in kept]
        (self.folder / "boxes/annotations/half.json").write_text(json.dumps(annotations))
        (self.folder / "system.yaml").write_text(SYSTEM.format(self.folder))

    def test_every_key_is_in_a_table(self):
        names = [line.split()[0] for line in self.ok("list", "keys").stdout.splitlines() if not line.startswith(" ")]
        self.assertGreater(len(names), 40)
        groups = {name.rpartition(".")[0] for name in names}
        groups |= {group.rpartition(".")[0] for group in groups}
        # a choice that can be given as a word is a key of its own
        leaves = {name for name in names if name not in groups or name == "parallelism"}
        shown = set(PLANNED) | set(REFUSED) | set(run_keys.SHOWN)
        self.assertEqual(leaves - shown, set(), "keys whose effect no test shows")
        self.assertEqual(shown - leaves, set(), "tables speak of keys that are not there")

    def test_planned(self):
        spec = self.write_spec(data=None, batch_size={"per_gpu": 4})
        for key, (one, other, path) in PLANNED.items():
            with self.subTest(key=key):
                plans = []
                for setting in (one, other):
                    settings = setting if isinstance(setting, list) else [setting]
                    plans.append(self.plan(*BESIDE.get(key, []), *settings, config=spec))
                self.assertNotEqual(at(plans[0], path), at(plans[1], path))

    def test_refused(self):
        spec = self.write_spec()
        for key, (setting, code, told) in REFUSED.items():
            with self.subTest(key=key):
                self.assertEqual(self.run_program("--config", spec, "--dry-run").code, 0)
                done = self.run_program("--config", spec, "--set", setting, "--output", "out.json")
                self.assertEqual(done.code, code, done)
                self.assertIn(told, done.stderr)


if __name__ == "__main__":
    unittest.main()
