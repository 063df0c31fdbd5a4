"""What the official SQuAD scripts and run_qa.py say, restated: the expected values of tests/data/answers.json.

    python3 tests/data_squad/answer_reference.py > tests/data/answers.json

Scores: evaluate-v1.1.py and evaluate-v2.0.py of SQuAD. Answers: utils_qa.postprocess_qa_predictions of Hugging Face
transformers, with the defaults of run_qa.py. Logits are multiples of 1/64, so sums are the same in any precision.
"""

import collections
import json
import random
import re
import string

N_BEST = 20
MAX_ANSWER_TOKENS = 30

# Predictions and true answers.
PAIRS = [
    ("Denver Broncos", ["Denver Broncos", "Denver Broncos", "The Broncos"]),
    ("the denver  BRONCOS!", ["Denver Broncos"]),
    ("Broncos", ["Denver Broncos"]),
    ("a the an", ["the"]),
    ("", ["the"]),
    ("", ["x"]),
    ("", []),
    ("x", []),
    ("x", ["the", "..."]),
    ("", ["the", "..."]),
    ("...", ["the", "x"]),
    ("empty", ["empty set"]),
    ("an apple a day", ["apple day", "an apple"]),
    ("theatre and ananas", ["the atre and an anas"]),
    ("a-b", ["b", "ab", "a b"]),
    ("A.B.", ["ab", "b"]),
    ("the_end", ["theend", "end"]),
    ("rock'n'roll", ["rocknroll", "rock n roll"]),
    ("$1,000.50", ["100050", "1000.50 dollars"]),
    ("to be or not to be", ["to be", "be be to to or not", "not to be be"]),
    ("caf\u00e9", ["Caf\u00c9", "cafe\u0301", "cafe"]),
    ("a\u0301 b", ["\u0301 b", "a\u0301 b"]),
    ("the\u2019s", ["\u2019s", "thes"]),
    ("l'an 2000", ["lan 2000", "l 2000"]),
    ("l\u2019an 2000", ["l\u2019 2000"]),
    ("\u039f\u0394\u039f\u03a3", ["\u03bf\u03b4\u03bf\u03c2", "\u03bf\u03b4\u03bf\u03c3"]),
    ("\u03a3\u0391\u03a3\u0397 \u03a3.", ["\u03c3\u03b1\u03c3\u03b7 \u03c3"]),
    ("\u0391\u03a3\u2019\u0392 \u0391\u03a3-\u0392", ["\u03b1\u03c3\u2019\u03b2 \u03b1\u03c2\u03b2"]),
    ("\u2160\u03a3 \u03a3\u24b6", ["\u2170\u03c2 \u03c3\u24d0"]),
    ("\u0391\u0301\u03a3\u02b0 \u03a3", ["\u03b1\u0301\u03c2\u02b0 \u03c3"]),
    ("\u0130stanbul", ["i\u0307stanbul", "istanbul"]),
    ("STRASSE", ["stra\u00dfe", "strasse"]),
    ("\u1e9e", ["\u00df"]),
    ("na\u00efve \u00a0the\u3000end", ["na\u00efve end"]),
    ("one\x1ctwo\x85three\u2009four", ["one two three four"]),
    ("\u201cquoted\u201d \u2014 text", ["quoted text", "\u201cquoted\u201d \u2014 text"]),
    ("\u5317\u4eac", ["\u5317\u4eac\u5e02", "\u5317\u4eac"]),
    ("\u00b2a \u2167the", ["\u00b2a \u2177the"]),
    ("\U0001f600 the a", ["\U0001f600"]),
    ("\u20aca", ["\u20ac", "\u20aca"]),
]


def normalize_answer(text):
    text = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def f1_v1(prediction, truth):
    predicted, true = normalize_answer(prediction).split(), normalize_answer(truth).split()
    same = sum((collections.Counter(predicted) & collections.Counter(true)).values())
    if same == 0:
        return 0
    precision, recall = same / len(predicted), same / len(true)
    return 2 * precision * recall / (precision + recall)


def f1_v2(prediction, truth):
    predicted, true = normalize_answer(prediction).split(), normalize_answer(truth).split()
    return int(predicted == true) if not predicted or not true else f1_v1(prediction, truth)


def exact(prediction, truth):
    return int(normalize_answer(prediction) == normalize_answer(truth))


def score_v1(prediction, truths):
    return [max((measure(prediction, truth) for truth in truths), default=0) for measure in (exact, f1_v1)]


def score_v2(prediction, truths):
    truths = [truth for truth in truths if normalize_answer(truth)] or [""]
    return [max(measure(prediction, truth) for truth in truths) for measure in (exact, f1_v2)]


def best_indexes(logits):
    return sorted(range(len(logits)), key=lambda i: -logits[i])[:N_BEST]


def answer(context, windows, with_negative):
    """windows: (start logits, end logits, offsets in the context or None) each."""
    null_score, found = None, []
    for starts, ends, offsets in windows:
        score = starts[0] + ends[0]
        null_score = score if null_score is None else min(null_score, score)
        for start in best_indexes(starts):
            for end in best_indexes(ends):
                if offsets[start] is None or offsets[end] is None:
                    continue
                if end < start or end - start + 1 > MAX_ANSWER_TOKENS:
                    continue
                found.append((starts[start] + ends[end], context[offsets[start][0] : offsets[end][1]]))
    found.sort(key=lambda one: one[0], reverse=True)
    score, text = found[0] if found else (0, "empty")
    return "" if with_negative and null_score - score > 0 else text


def made_case(rng):
    """A context of words, windows over it, and logits of which some positions stand out."""
    words = [rng.choice(["ab", "\u00e9t\u00e9", "x", "\u4eac", "word", "\U0001f600"]) for _ in range(rng.randint(5, 90))]
    context, places = "", []
    for word in words:
        context += " " * rng.randint(0, 2)
        places.append((len(context), len(context) + len(word)))
        context += word
    question, room = rng.randint(1, 24), rng.choice([12, 40, 90])
    length, stride = question + 3 + room, room // 3
    windows, first = [], 0
    while True:
        count = min(room, len(words) - first)
        offsets = [None] * (question + 2) + places[first : first + count]
        offsets += [None] * (length - len(offsets))
        sides = []
        for _ in range(2):
            ranks = rng.sample(range(-200, 200), length)
            for position in range(question + 2):
                ranks[position] += rng.choice([0, 0, 400]) if rng.random() < 0.5 else 0
            sides.append([rank / 64 for rank in ranks])
        windows.append({"first": first, "count": count, "starts": sides[0], "ends": sides[1]})
        windows[-1]["offsets"] = offsets
        if first + count == len(words):
            break
        first += room - stride
    return {"context": context, "places": places, "question_tokens": question, "windows": windows}


def cases():
    rng = random.Random(7)
    for _ in range(60):
        case = made_case(rng)
        windows = [(w["starts"], w["ends"], w.pop("offsets")) for w in case["windows"]]
        case["v1"] = answer(case["context"], windows, False)
        case["v2"] = answer(case["context"], windows, True)
        yield case


def reference():
    scores = [
        {"prediction": prediction, "truths": truths, "normalized": normalize_answer(prediction),
         "v1": score_v1(prediction, truths), "v2": score_v2(prediction, truths)}
        for prediction, truths in PAIRS
    ]  # fmt: skip
    about = "made by tests/data_squad/answer_reference.py; logits are those of the windows' positions"
    return {"about": about, "scores": scores, "answers": list(cases())}


if __name__ == "__main__":
    print(json.dumps(reference(), separators=(",", ":")))
