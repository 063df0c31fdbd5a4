"""No key without effect, as far as the losses show it. plan_keys_test holds that no key is left out."""

import unittest

from run_keys import BASE, LOSSES, PAIRS
from runs import RunTest


class LossKeysTest(RunTest):
    def losses(self, name, changes):
        return self.trained(name, **{**BASE, **changes})["training"]["loss"]["series"]

    def test_what_the_losses_show(self):
        base = self.losses("base", {})
        for key, changes in LOSSES.items():
            with self.subTest(key=key):
                self.assertNotEqual(self.losses(key, changes), base)

    def test_schedules_against_each_other(self):
        for key, (one, other) in PAIRS.items():
            with self.subTest(key=key):
                series = [self.losses(f"{key}{i}", {"schedule": schedule}) for i, schedule in enumerate((one, other))]
                self.assertNotEqual(series[0], series[1])


if __name__ == "__main__":
    unittest.main()
