"""A second opinion on the joint protocol: its answers computed from all parties' keys, in plain Python integers.

Written from `joint/PROOF.md`, and imports nothing of scumble. It knows every key, so it knows the noise that no
coalition of a real run does. `python tests/support/joint_plain_twin.py` writes the vectors beside it.
"""

import hashlib
import itertools
import json
from fractions import Fraction
from pathlib import Path

VECTORS = Path(__file__).with_name("joint_vectors.json")
SESSION = b"vectors"


def length_prefixed(*parts):
    digest = hashlib.blake2b(digest_size=32)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()


def key(*words):
    return hashlib.sha256(repr(("vectors", *words)).encode()).digest()


def stream(of_key, label, length):
    return hashlib.shake_256(of_key + label).digest(length)


class Step:
    """One step of a session with these owners, whose inputs are words of `size` bytes each."""

    def __init__(self, number, compute, threshold):
        self.label = length_prefixed(SESSION, number.to_bytes(8, "big"))
        self.components = len(list(itertools.combinations(range(compute), threshold)))
        self.context, self.calls = self.label, 0

    def next(self, context):
        self.calls += 1
        return context + self.calls.to_bytes(8, "big")

    def input(self, values_by_owner, size):
        """The sums; what the owners input decides the random bits from here on."""
        label = self.next(self.label)
        digests = [
            stream(key("own", owner), label + b"".join((v % 256**size).to_bytes(size, "little") for v in values), 16)
            for owner, values in sorted(values_by_owner.items())
        ]
        self.context = length_prefixed(self.context, *digests)
        return [sum(values) for values in zip(*values_by_owner.values(), strict=True)]

    def random_bytes(self, length):
        label = self.next(self.context)
        streams = [stream(key(number), label, length) for number in range(self.components)]
        total = 0
        for each in streams:
            total ^= int.from_bytes(each, "big")
        return total.to_bytes(length, "big")

    def noise(self, law, size):
        """A digit is 1 if its coin, a word of random bits, highest bit first, is below the digit's threshold."""
        bits, thresholds = law
        row = -(-size // 8)
        random = self.random_bytes(bits * len(thresholds) * row)
        values = []
        for place in range(size):
            value = 0
            for digit, threshold in enumerate(thresholds):
                coin = 0
                for plane in range(bits):
                    byte = random[(plane * len(thresholds) + digit) * row + place // 8]
                    coin = 2 * coin + (byte >> place % 8 & 1)
                value += (coin < threshold) << digit
            values.append(value)
        return values

    def message(self, dealer, values, compute, threshold):
        """What a dealer sends when it inputs 64-bit words: a digest, and the words minus all masks that it derives.

        It sends the component of the parties before it. It derives those of all other sets that it is not in.
        """
        label = self.next(self.label)
        plain = b"".join((value % 2**64).to_bytes(8, "little") for value in values)
        digest = stream(key("own", dealer), label + plain, 16)
        sent = {(dealer - back) % compute for back in range(1, threshold + 1)}
        rest = list(values)
        for number, subset in enumerate(itertools.combinations(range(compute), threshold)):
            if set(subset) != sent and dealer not in subset:
                mask = stream(key(number), label + digest + dealer.to_bytes(2, "big"), 8 * len(values))
                rest = [word - int.from_bytes(mask[8 * n :][:8], "little") for n, word in enumerate(rest)]
        return digest + b"".join((word % 2**64).to_bytes(8, "little") for word in rest)

    def order(self, size):
        """A permutation: the places, sorted by words of the step's own stream."""
        words = stream(self.label, b"order", 16 * size)
        first, second = (
            [int.from_bytes(words[8 * (half * size + n) :][:8], "little") for n in range(size)] for half in (0, 1)
        )
        return sorted(range(size), key=lambda n: (first[n], second[n], n))


def law_of(rate, shift):
    """Thresholds by the rule of section 4, from the exponential series in exact fractions."""
    parts = max(1, -(-rate.numerator // rate.denominator))
    part, term, series = rate / parts, Fraction(1), Fraction(1)
    for number in range(1, 60):
        term = -term * part / number
        series += term
    series += abs(term)  # above the limit of an alternating series
    ratio = series**parts
    ratio = Fraction(-(-ratio.numerator * 2**320 // ratio.denominator), 2**320)
    for bits in range(64, 257, 8):
        thresholds, below, last = [], Fraction(1), Fraction(1)
        while True:
            least = below * ratio
            exact = least / (1 + least) * 2**bits
            threshold = -(-exact.numerator // exact.denominator)
            odds = Fraction(threshold, 2**bits - threshold)
            if odds * ratio > below:
                break
            thresholds.append(threshold)
            below *= odds
            last *= Fraction(threshold, 2**bits)
        rise = 3 ** -(-(rate * shift).numerator // (rate * shift).denominator)
        if last * shift * rise <= Fraction(1, 2**80):
            return bits, thresholds
    raise AssertionError


def counts(step, values, law, size):
    """A measurement: count + noise - noise', with one stream of noise for both."""
    totals = step.input(values, size)
    noise = step.noise(law, 2 * len(totals))
    return [total + noise[n] - noise[n + len(totals)] for n, total in enumerate(totals)]


def choice(step, scores, law):
    """A choice: the first of the largest scores with noise, in the public order. The noise follows that order."""
    order = step.order(len(scores))
    noise = step.noise(law, len(scores))
    noisy = [scores[place] + noise[n] for n, place in enumerate(order)]
    return order[noisy.index(max(noisy))]


def cases():
    """Inputs and what the protocol must open, for three parties (threshold 1) and five (threshold 2)."""
    for number, (compute, threshold) in enumerate([(3, 1), (5, 2)]):
        draw = hashlib.shake_256(b"inputs %d" % compute).digest(4000)
        words = iter(int.from_bytes(draw[4 * n : 4 * n + 4], "big") for n in range(1000))
        for turn, (rate, shift) in enumerate([(Fraction(1, 7), 1), (Fraction(3), 2), (Fraction(1, 4096), 4096)]):
            owners = range(compute)
            values = {owner: [next(words) % 2001 - 1000 for _ in range(11)] for owner in owners}
            groups = {owner: [next(words) % 500 for _ in range(2 * 9)] for owner in owners}
            law = law_of(rate, shift)
            about = {"compute": compute, "threshold": threshold, "step": 10 * number + turn}
            about |= {"rate": str(rate), "shift": shift, "bits_per_digit": law[0]}
            about |= {"thresholds": [hex(threshold) for threshold in law[1]]}
            step = Step(about["step"], compute, threshold)
            yield {**about, "what": "counts", "values": values, "answer": counts(step, values, law, 8)}
            step = Step(about["step"], compute, threshold)
            sums = step.input(groups, 8)
            majority = [max(sums[2 * n], sums[2 * n + 1]) for n in range(9)]
            chosen = choice(step, majority, law)
            yield {**about, "what": "majority", "values": groups, "scores": majority, "answer": chosen}
            step = Step(about["step"], compute, threshold)
            distances = [abs(total) for total in step.input(values, 8)]
            chosen = choice(step, distances, law)
            yield {**about, "what": "distance", "values": values, "scores": distances, "answer": chosen}
            dealer, step = turn, Step(about["step"], compute, threshold)
            message = step.message(dealer, values[dealer], compute, threshold)
            yield {**about, "what": "message", "values": values, "dealer": dealer, "answer": message.hex()}


def main():
    VECTORS.write_text(json.dumps(list(cases()), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
