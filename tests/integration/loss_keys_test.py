"""No key without effect, as far as the losses show it. plan_keys_test holds that no key is left out."""

import unittest

from run_keys import BASE, BERT, BERT_LOSSES, LOSSES, OPTIMIZER_PAIRS, PAIRS
from runs import RunTest


class LossKeysTest(RunTest):
    def losses(self, name, changes):
        return self.trained(name, **{**BASE, **changes})["training"]["loss"]["series"]

    def test_what_the_losses_show(self):
        base = self.losses("base", {})
        for key, changes in LOSSES.items():
            with self.subTest(key=key):
                self.assertNotEqual(self.losses(key, changes), base)

    def test_what_the_losses_of_a_transformer_show(self):
        base = self.losses("bert", BERT)
        for key, changes in BERT_LOSSES.items():
            with self.subTest(key=key):
                self.assertNotEqual(self.losses(key, {**BERT, **changes}), base)

    def test_against_each_other(self):
        for group, pairs in (("schedule", PAIRS), ("optimizer", OPTIMIZER_PAIRS)):
            for key, settings in pairs.items():
                with self.subTest(key=key):
                    series = [self.losses(f"{key}{i}", {group: each}) for i, each in enumerate(settings)]
                    self.assertNotEqual(series[0], series[1])


if __name__ == "__main__":
    unittest.main()
