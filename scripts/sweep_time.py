"""How long the points of a sweep take: from runs that were, else from the plan and known rates."""

import v100_rates

OVERHEAD_S = 60  # set-up, warm-up and writing, where no run tells
# Training samples of the data sets that the paper's specs name, for a plan that cannot look at them: ImageNet-1k, COCO
# train2017, windows of SQuAD v1.1 at 384 tokens.
DATA_SAMPLES = {"imagefolder": 1281167, "coco": 118287, "squad": 88524}


def text_of(seconds):
    """Two units at most: 45 s, 3 min 20 s, 5 h 10 min, 2 d 3 h."""
    seconds = round(seconds)
    for size, unit, rest_size, rest_unit in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size:
            rest = seconds % size // rest_size
            return f"{seconds // size} {unit}" + (f" {rest} {rest_unit}" if rest else "")
    return f"{seconds} s"


def rate_of(plan, rates):
    """(samples/s of all devices, where from), or None."""
    model = plan["spec"].get("model")
    devices = [device for rank in plan.get("ranks") or [] for device in rank.get("devices") or []]
    if model in rates:
        return rates[model] * max(1, len(devices)), "the rate of runs before"
    public = v100_rates.OF_EIGHT_FP32 if plan["spec"].get("precision") == "fp32" else v100_rates.OF_EIGHT
    if model in public and devices and all(device.get("kind") == "cuda" for device in devices):
        return public[model] * len(devices), "public V100 rates"
    return None


def estimate(plan, report, rates):
    """(seconds, where from), or (None, why). report: of this point, whenever it was run; rates: model -> samples/s of a
    device, of other points."""
    duration = ((report or {}).get("run") or {}).get("duration_s")
    if duration:
        return duration, "its run before"
    if not isinstance(plan, dict) or not isinstance(plan.get("spec"), dict):
        return None, "no plan"
    seconds = (plan["spec"].get("budget") or {}).get("seconds")
    if seconds:
        return seconds + OVERHEAD_S, "its budget"
    rate, (samples, known) = rate_of(plan, rates), samples_of(plan)
    if not rate:
        return None, "no rate is known"
    if not samples:
        return None, "the data is not known"
    return samples / rate[0] + OVERHEAD_S, rate[1] + known


def samples_of(plan):
    """(samples of the run with its warm-up or None, what had to be taken for them)."""
    steps, batch, spec = plan.get("measured_steps"), plan.get("global_batch"), plan["spec"]
    if steps and batch:
        return (steps + (plan.get("warmup_steps") or 0)) * batch, ""
    epochs = (spec.get("budget") or {}).get("epochs")
    size = DATA_SAMPLES.get((spec.get("data") or {}).get("format"))
    return (epochs * size, " and the original data set's size") if epochs and size else (None, "")


def rates_of(reports):
    """Model -> samples/s of one device, mean over these reports."""
    found = {}
    for report in reports:
        model = (report.get("spec") or {}).get("model")
        rate = ((report.get("training") or {}).get("throughput") or {}).get("per_gpu")
        if model and rate:
            found.setdefault(model, []).append(rate)
    return {model: sum(rates) / len(rates) for model, rates in found.items()}


class Clock:
    """Time left of a sweep: from how long the points of this sweep took, over what was estimated for them."""

    def __init__(self, estimates):
        self.estimates, self.done_s, self.done_estimate_s = dict(estimates), 0.0, 0.0

    def ended(self, name, seconds):
        """seconds: None for a point that was not run."""
        estimate_s = self.estimates.pop(name, None)
        if seconds is not None and estimate_s:
            self.done_s += seconds
            self.done_estimate_s += estimate_s

    def left(self):
        """In words; empty while nothing can be said."""
        known = [value for value in self.estimates.values() if value]
        if not self.estimates or not known:
            return ""
        factor = self.done_s / self.done_estimate_s if self.done_estimate_s else 1
        unknown = len(self.estimates) - len(known)
        return f"about {text_of(sum(known) * factor)} left" + (f" and {unknown} points of unknown length" if unknown else "")
