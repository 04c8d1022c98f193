"""Blurred values follow the noise model and no other law; the noise of an entity is fixed, and independent of others'.

Error rates: a true law is rejected once in a million runs. Noise 30 % off has a chi-square non-centrality above 1,000
with at most 120 degrees of freedom at 60,000 draws, and two dependent columns one above 10,000: both are always seen.
"""

import hmac
import tracemalloc
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from chi_square import chi_square_rejects

from scumble import noise_model, perturb
from scumble.errors import InputError
from scumble.model.grid import Grid
from scumble.model.local.noise_law import TOTAL
from scumble.model.local.noise_model import NoiseModel, for_epsilon, for_privacy
from scumble.model.local.randomized_attribute import RandomizedAttribute
from scumble.model.local.randomizers import Gaussian, Laplace, RandomizedResponse, Randomizer, Retained, Uniform
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree
from scumble.model.values import code_of, text_of
from scumble.privacy.noise import KeyedWords, Keying, RowNumbers, SystemWords, Words
from scumble.privacy.perturber import Perturber, perturb_block

DRAWS = 60_000
SECRET = bytes(range(32))
NUMBER = Attribute(
    name="n", domain=Grid.regular(low=Decimal(0), high=Decimal(30), step=Decimal(1)), outside=Outside.CLAMP
)
KIND = Attribute(name="k", domain=Tree.flat(["a", "b", "c", "d"]), outside=Outside.DROP)
ENTITIES = [str(number) for number in range(DRAWS)]
CONTEXT = "295cd9262d9bdb44c76fd091332a6d7faac4125549aa7114b1581be315e210af"
FIRST_WORD = 628104437616215195
OLDER_WORDS = [1102475881768280373, 552431827401961998, 2349983139307268004]


def law_of(attribute: Attribute, randomizer: Randomizer, code: int) -> dict[int, float]:
    channel = RandomizedAttribute(attribute=attribute, randomizer=randomizer).channel
    below = channel.below(np.arange(channel.outputs + 1), np.array([code]))[:, 0]
    return dict(enumerate(np.diff(below).tolist()))


def perturbed_often(attribute: Attribute, randomizer: Randomizer, code: int, words: Words) -> Counter[int]:
    model = NoiseModel(schema=Schema(attributes=(attribute,)), randomizers={attribute.name: randomizer})
    columns = {attribute.name: np.full(DRAWS, code)}
    return Counter(perturb_block(model, columns, words=words, entities=ENTITIES)[attribute.name].tolist())


CASES = [
    (NUMBER, *(Uniform(half_width=Fraction(twice, 2)) for twice in (21, 27, 15))),
    (NUMBER, *(Gaussian(sigma=Fraction(tenths, 10)) for tenths in (80, 104, 56))),
    (NUMBER, *(Laplace(epsilon=Fraction(thirds, 3)) for thirds in (9, 12, 6))),
    (KIND, *(RandomizedResponse(epsilon=Fraction(tenths, 10)) for tenths in (10, 13, 7))),
    (KIND, *(Retained(probability=Fraction(percent, 100)) for percent in (50, 65, 35))),
]


@pytest.mark.parametrize("source", [SystemWords(), KeyedWords(SECRET)])
@pytest.mark.parametrize(("attribute", "randomizer", "more", "less"), CASES)
def test_blurred_values_follow_their_law_and_no_other(
    attribute: Attribute, randomizer: Randomizer, more: Randomizer, less: Randomizer, source: Words
) -> None:
    code = 2
    seen = perturbed_often(attribute, randomizer, code, source)
    assert not chi_square_rejects(seen, law_of(attribute, randomizer, code))
    for wrong in (more, less):
        law = law_of(attribute, wrong, code)
        if isinstance(randomizer, Uniform | Gaussian):  # their widened domains differ: line them up
            shift = (len(law) - len(law_of(attribute, randomizer, code))) // 2
            law = {outcome - shift: chance for outcome, chance in law.items()}
        assert chi_square_rejects(seen, law), f"{wrong} would pass for {randomizer}"


@pytest.mark.parametrize("source", [SystemWords(), KeyedWords(SECRET)])
def test_words_are_even(source: Words) -> None:
    words = source.draw(b"context", ENTITIES, np.zeros(DRAWS, dtype=np.int64))
    assert words.dtype == np.int64
    for bits in (0, 54):
        seen = Counter(((words >> bits) & 255).tolist())
        assert not chi_square_rejects(seen, dict.fromkeys(range(256), 1 / 256))
    assert words.min() >= 0 and words.max() < TOTAL


def correlated(first: np.ndarray, second: np.ndarray) -> bool:
    cells = Counter(zip((first >> 58).tolist(), (second >> 58).tolist(), strict=True))
    return chi_square_rejects(cells, {(i, j): 1 / 256 for i in range(16) for j in range(16)})


def test_other_attributes_entities_values_and_secrets_have_independent_words() -> None:
    keyed = KeyedWords(SECRET)
    codes = np.zeros(DRAWS, dtype=np.int64)
    words = keyed.draw(b"age", ENTITIES, codes)
    assert correlated(words, keyed.draw(b"age", ENTITIES, codes)), "the same question has the same answer"
    assert not correlated(words, keyed.draw(b"salary", ENTITIES, codes))
    assert not correlated(words, keyed.draw(b"age", [f"{entity}x" for entity in ENTITIES], codes))
    assert not correlated(words, keyed.draw(b"age", ENTITIES, codes + 1)), "a changed value is blurred afresh"
    assert not correlated(words, KeyedWords(SECRET[::-1]).draw(b"age", ENTITIES, codes))


def test_two_noise_scales_for_one_value_do_not_reveal_it() -> None:
    """With one word for both, the stronger noise would be twice the weaker, and the value 2 x weaker - stronger."""
    columns = {"n": np.full(DRAWS, 15)}
    noises = []
    for sigma in (5, 10):
        model = NoiseModel(schema=Schema(attributes=(NUMBER,)), randomizers={"n": Gaussian(sigma=Fraction(sigma))})
        randomized = perturb_block(model, columns, words=KeyedWords(SECRET), entities=ENTITIES)["n"]
        noises.append(randomized - 6 * sigma)
    assert abs(np.corrcoef(noises[0], noises[1])[0, 1]) < 5 / np.sqrt(DRAWS)
    assert np.std(2 * noises[0] - noises[1]) > 10


def test_rows_with_a_blank_or_a_repeated_entity_have_independent_words() -> None:
    keyed, codes = KeyedWords(SECRET), np.zeros(DRAWS, dtype=np.int64)
    for names in ([""] * DRAWS, [" \t"] * DRAWS, ["x"] * DRAWS):
        words = keyed.draw(b"age", names, codes)
        assert len(set(words.tolist())) == DRAWS
        assert not chi_square_rejects(Counter((words >> 54).tolist()), dict.fromkeys(range(256), 1 / 256))
        assert not correlated(words[:-1], words[1:])
    twice = [str(number // 2) for number in range(2 * DRAWS)]
    words = keyed.draw(b"age", twice, np.zeros(2 * DRAWS, dtype=np.int64))
    assert not correlated(words[0::2], words[1::2]), "the second row of an entity has a word of its own"
    assert (words[0::2] == keyed.draw(b"age", ENTITIES, codes)).all(), "the first row is not changed by the second"


def test_rows_are_numbered_over_blocks_and_blank_ones_are_not() -> None:
    rows = RowNumbers()
    assert rows.number(["a", "", "b", "a", " "]).tolist() == [1, 0, 1, 2, 0]
    assert rows.number(["b", "a", "c", "\n"]).tolist() == [2, 3, 1, 0]
    names, codes = [str(number % 7) for number in range(40)], np.arange(40) % 3
    whole = KeyedWords(SECRET).draw(b"age", names, codes)
    rows, blocks = RowNumbers(), []
    for start in range(0, 40, 9):
        some = names[start : start + 9]
        blocks.append(KeyedWords(SECRET).draw(b"age", some, codes[start : start + 9], rows.number(some)))
    assert np.concatenate(blocks).tolist() == whole.tolist()


def irregular(missing: str | None = None, edges: str = "0 1 5 9", name: str = "x") -> Attribute:
    grid = Grid(edges=tuple(Decimal(edge) for edge in edges.split()), missing=missing)
    return Attribute(name=name, domain=grid, outside=Outside.CLAMP, missing=missing)


def reports_of(attribute: Attribute, randomizer: Randomizer) -> np.ndarray:
    model = NoiseModel(schema=Schema(attributes=(attribute,)), randomizers={attribute.name: randomizer})
    columns = {attribute.name: np.zeros(DRAWS, dtype=np.int64)}
    return perturb_block(model, columns, words=KeyedWords(SECRET), entities=ENTITIES)[attribute.name]


def test_irregular_edges_with_and_without_missing_have_independent_words() -> None:
    """Three and four values give randomized response two laws. One word under both laws would give one report in nearly
    all rows; independent reports have the product of the two laws."""
    randomizer = RandomizedResponse(epsilon=Fraction(1, 2))
    pairs = Counter(
        zip(reports_of(irregular(), randomizer), reports_of(irregular(missing="?"), randomizer), strict=True)
    )
    laws = [law_of(attribute, randomizer, 0) for attribute in (irregular(), irregular(missing="?"))]
    product = {(i, j): one * two for i, one in laws[0].items() for j, two in laws[1].items()}
    assert not chi_square_rejects(pairs, product)


def test_the_context_describes_the_whole_channel_and_no_spelling() -> None:
    """Every part of a channel changes the context. The spelling of a number and the order of nothing else does."""
    response = RandomizedResponse(epsilon=Fraction(1, 2))
    described = [
        (irregular(), response),
        (irregular(missing="?"), response),
        (irregular(missing="-"), response),
        (irregular(edges="0 1 5 10"), response),
        (irregular(name="y"), response),
        (irregular(), RandomizedResponse(epsilon=Fraction(1, 3))),
        (NUMBER, Laplace(epsilon=Fraction(1))),
        (NUMBER, Laplace(epsilon=Fraction(2))),
        (NUMBER, Uniform(half_width=Fraction(21, 2))),
        (NUMBER, Uniform(half_width=Fraction(21, 2), refine=3)),
        (KIND, response),
        (KIND, Retained(probability=Fraction(1, 2))),
        (replace(KIND, domain=Tree.flat(["b", "a", "c", "d"])), response),
        (replace(KIND, domain=Tree.flat(["a", "b", "c,d", "e"])), response),
    ]
    contexts = [RandomizedAttribute(attribute=a, randomizer=r).context for a, r in described]
    assert len(set(contexts)) == len(described)
    spelled = RandomizedAttribute(attribute=irregular(edges="0.0 1 5.00 9"), randomizer=response)
    assert spelled.context == contexts[0]


def test_the_words_are_the_published_function_bit_by_bit() -> None:
    """The readable twin of docs and proof, and fixed values that an implementation elsewhere can be compared with."""
    context = RandomizedAttribute(attribute=KIND, randomizer=RandomizedResponse(epsilon=Fraction(1))).context
    assert context.hex() == CONTEXT
    key = hmac.digest(hmac.digest(SECRET, b"scumble perturb/2", "sha256"), context, "sha256")
    rows = [("me", 1, 0), ("me", 2, 0), ("m\u00fc", 1, 3), ("\ud800", 1, -1)]
    names, occurrences, codes = zip(*rows, strict=True)
    expected = [
        int.from_bytes(
            hmac.digest(
                key,
                code.to_bytes(8, "big", signed=True)
                + number.to_bytes(8, "big")
                + name.encode("utf-8", "surrogatepass"),
                "sha256",
            )[:8],
            "big",
        )
        >> 2
        for name, number, code in rows
    ]
    words = KeyedWords(SECRET).draw(context, names, np.array(codes), np.array(occurrences))
    assert words.tolist() == expected
    assert words[0] == FIRST_WORD


def test_the_older_function_gives_the_words_of_older_tables() -> None:
    words = KeyedWords(SECRET, Keying.BLAKE2B).draw(b"age", ["0", "1", "2"], np.arange(3))
    assert words.tolist() == OLDER_WORDS
    model, record = for_epsilon(SCHEMA, epsilon="1"), {"n": 7, "k": "a"}
    columns = {"n": np.array([7]), "k": np.array([0])}
    older = perturb_block(model, columns, words=KeyedWords(SECRET, "blake2b/1"), entities=["me"])
    told = Perturber(model, secret=SECRET, keyed="blake2b/1").perturb(record, entity="me")
    assert told == {name: text_of(model.published[name].domain, int(older[name][0])) for name in ("n", "k")}
    with pytest.raises(InputError, match="Unknown keyed function 'md5'"):
        KeyedWords(SECRET, "md5")


def test_a_client_without_an_entity_is_one_person_with_fixed_noise() -> None:
    model = for_epsilon(SCHEMA, epsilon="1")
    told = {tuple(Perturber(model, secret=SECRET).perturb({"n": 7, "k": "a"}).values()) for _ in range(50)}
    assert len(told) == 1


SCHEMA = Schema(attributes=(NUMBER, KIND), target="k")


@pytest.mark.parametrize("model", [for_privacy(SCHEMA, privacy="100%"), for_epsilon(SCHEMA, epsilon="2")])
def test_a_client_blurs_as_the_file_does_and_always_alike(model: NoiseModel) -> None:
    people = [{"n": number % 30, "k": "abcd"[number % 4]} for number in range(200)]
    client = Perturber(model, secret=SECRET)
    reports = [client.perturb(person, entity=str(place)) for place, person in enumerate(people)]
    assert reports == [Perturber(model, secret=SECRET).perturb(p, entity=str(place)) for place, p in enumerate(people)]
    columns = {
        name: np.array([code_of(SCHEMA[name], person[name]) for person in people])  # type: ignore[arg-type]
        for name in ("n", "k")
    }
    names = [str(place) for place in range(len(people))]
    file = perturb_block(model, columns, words=KeyedWords(SECRET), entities=names)
    for place, record in enumerate(reports):
        assert record == {name: text_of(model.published[name].domain, int(file[name][place])) for name in ("n", "k")}


def test_fresh_words_never_repeat() -> None:
    model = for_epsilon(SCHEMA, epsilon="1")
    columns = {"n": np.full(200, 7), "k": np.zeros(200, dtype=np.int64)}
    runs = {tuple(perturb_block(model, columns)["n"]) for _ in range(3)}
    assert len(runs) == 3


def test_withheld_columns_are_left_out_and_need_not_be_there() -> None:
    model = for_epsilon(SCHEMA, epsilon="1", withheld=["k"])
    assert set(perturb_block(model, {"n": np.arange(5)})) == {"n"}
    assert set(Perturber(model, secret=SECRET).perturb({"n": 3})) == {"n"}


def test_a_missing_number_stays_missing_and_others_do_not_become_so() -> None:
    grid = Grid.regular(low=Decimal(0), high=Decimal(5), step=Decimal(1), missing="?")
    schema = Schema(attributes=(Attribute(name="x", domain=grid, outside=Outside.CLAMP, missing="?"),))
    model = for_privacy(schema, privacy="200%", noise="uniform")
    codes = np.tile(np.arange(6), 500)
    perturbed = perturb_block(model, {"x": codes})["x"]
    missing = model.published["x"].missing_code
    assert ((perturbed == missing) == (codes == 5)).all()
    assert Perturber(model, secret=SECRET).perturb({"x": None}) == {"x": "?"}


@pytest.mark.parametrize(("value", "code"), [(-50, 0), (0, 0), (29.99, 29), (30, 29), (1e300, 29), ("7", 7)])
def test_numbers_off_the_range_are_clamped_on_a_client(value: float | str, code: int) -> None:
    assert code_of(NUMBER, value) == code


ODD = [
    None,
    "",
    "x",
    "e",
    float("nan"),
    float("inf"),
    b"\xff",
    "\ud800",
    10**5000,
    -(10**400),
    Decimal("1E+999999"),
    [1],
]


@pytest.mark.parametrize("number", ODD, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("kind", [*ODD, "a"], ids=lambda value: type(value).__name__)
def test_every_record_gives_a_report_under_local_privacy(number: Any, kind: Any) -> None:
    """A report that is not sent would reveal a value. The report is that of the table, which clamps such values."""
    model = for_epsilon(SCHEMA, epsilon="1")
    report = Perturber(model, secret=SECRET).perturb({"n": number, "k": kind}, entity="me")
    clamped = {
        name: code_of(replace(SCHEMA[name], outside=Outside.CLAMP), value)
        for name, value in (("n", number), ("k", kind))
    }
    columns = {name: np.array([code]) for name, code in clamped.items()}
    file = perturb_block(model, columns, words=KeyedWords(SECRET), entities=["me"])
    assert report == {name: text_of(model.published[name].domain, int(file[name][0])) for name in ("n", "k")}


def test_a_client_reports_as_the_table_of_perturb_does(tmp_path: Path) -> None:
    """One table with an odd record, and the same records on their owners' devices."""
    model = noise_model(SCHEMA, epsilon="1")
    records = [{"n": 7, "k": "a"}, {"n": 1e300, "k": "unknown"}, {"n": None, "k": None}, {"n": "x", "k": "b"}]
    frame = pd.DataFrame(records, dtype=object).assign(id=["0", "1", "2", "3"])
    perturb(frame, schema=SCHEMA, out=tmp_path / "out", secret=SECRET, entity="id", epsilon="1")
    table = pd.read_csv(tmp_path / "out" / "table.csv", dtype=str).to_dict("records")
    client = Perturber(model, secret=SECRET)
    assert table == [client.perturb(record, entity=str(place)) for place, record in enumerate(records)]  # type: ignore[arg-type]


def test_what_a_table_drops_gives_no_report() -> None:
    """Interval privacy follows `outside: drop`, and so does an attribute that is reported without noise."""
    for model in (for_privacy(SCHEMA, privacy="100%"), for_epsilon(SCHEMA, epsilon="1", truthful=["k"])):
        client = Perturber(model, secret=SECRET)
        assert set(client.perturb({"n": -5, "k": "a"})) == {"n", "k"}
        for value in ("e", None, 10**5000):
            with pytest.raises(InputError, match="leaves out records with such a value of 'k'"):
                client.perturb({"n": 1, "k": value})


def test_the_owner_is_shown_what_is_wrong_with_a_record() -> None:
    client = Perturber(for_epsilon(SCHEMA, epsilon="1"), secret=SECRET)
    assert client.flaws({"n": 1, "k": "a"}) == {}
    assert client.flaws({"n": "x", "k": "e"}) == {"n": "not a number", "k": "unknown category"}
    assert client.flaws({"n": 10**5000, "k": None}) == {"n": "outside the range", "k": "missing"}


def test_absent_attributes_and_weak_secrets_are_refused() -> None:
    model = for_epsilon(SCHEMA, epsilon="1")
    with pytest.raises(InputError, match="has no 'k'"):
        Perturber(model, secret=SECRET).perturb({"n": 1})
    with pytest.raises(InputError, match="guesses"):
        Perturber(model, secret=b"short")
    with pytest.raises(InputError, match="identifies"):
        perturb_block(model, {"n": np.arange(3), "k": np.arange(3)}, words=KeyedWords(SECRET))


def test_blurring_block_by_block_needs_the_memory_of_one_block() -> None:
    model = for_privacy(SCHEMA, privacy="100%")
    columns = {"n": np.zeros(2**14, dtype=np.int64), "k": np.zeros(2**14, dtype=np.int64)}

    def peak(blocks: int) -> int:
        tracemalloc.start()
        for _ in range(blocks):
            perturb_block(model, columns)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1)
    assert peak(20) < 1.2 * peak(2)
