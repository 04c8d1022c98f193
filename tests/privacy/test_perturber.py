"""Blurred values follow the noise model and no other law; the noise of an entity is fixed, and independent of others'.

Error rates: a true law is rejected once in a million runs. Noise 30 % off has a chi-square non-centrality above 1,000
with at most 120 degrees of freedom at 60,000 draws, and two dependent columns one above 10,000: both are always seen.
"""

import tracemalloc
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from chi_square import chi_square_rejects

from scumble.errors import InputError
from scumble.model.local.noise_law import TOTAL
from scumble.model.local.noise_model import NoiseModel, for_epsilon, for_privacy
from scumble.model.local.randomized_attribute import RandomizedAttribute
from scumble.model.local.randomizers import Gaussian, Laplace, RandomizedResponse, Randomizer, Retained, Uniform
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Grid, Tree
from scumble.model.values import text_of
from scumble.privacy.noise import KeyedWords, SystemWords, Words
from scumble.privacy.perturber import Perturber, owners_code, perturb_block

DRAWS = 60_000
SECRET = bytes(range(32))
NUMBER = Attribute(
    name="n", domain=Grid.regular(low=Decimal(0), high=Decimal(30), step=Decimal(1)), outside=Outside.CLAMP
)
KIND = Attribute(name="k", domain=Tree.flat(["a", "b", "c", "d"]), outside=Outside.DROP)
ENTITIES = [str(number) for number in range(DRAWS)]


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


def test_two_strengths_of_noise_for_one_value_do_not_tell_it() -> None:
    """With one word for both, the stronger noise would be twice the weaker, and the value 2 x weaker - stronger."""
    columns = {"n": np.full(DRAWS, 15)}
    told = []
    for sigma in (5, 10):
        model = NoiseModel(schema=Schema(attributes=(NUMBER,)), randomizers={"n": Gaussian(sigma=Fraction(sigma))})
        randomized = perturb_block(model, columns, words=KeyedWords(SECRET), entities=ENTITIES)["n"]
        told.append(randomized - 6 * sigma)
    assert abs(np.corrcoef(told[0], told[1])[0, 1]) < 5 / np.sqrt(DRAWS)
    assert np.std(2 * told[0] - told[1]) > 10


SCHEMA = Schema(attributes=(NUMBER, KIND), target="k")


@pytest.mark.parametrize("model", [for_privacy(SCHEMA, privacy="100%"), for_epsilon(SCHEMA, epsilon="2")])
def test_a_client_blurs_as_the_file_does_and_always_alike(model: NoiseModel) -> None:
    people = [{"n": number % 30, "k": "abcd"[number % 4]} for number in range(200)]
    client = Perturber(model, secret=SECRET)
    told = [client.perturb(person, entity=str(place)) for place, person in enumerate(people)]
    assert told == [Perturber(model, secret=SECRET).perturb(p, entity=str(place)) for place, p in enumerate(people)]
    columns = {
        name: np.array([owners_code(SCHEMA[name], person[name]) for person in people])  # type: ignore[arg-type]
        for name in ("n", "k")
    }
    names = [str(place) for place in range(len(people))]
    file = perturb_block(model, columns, words=KeyedWords(SECRET), entities=names)
    for place, record in enumerate(told):
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
    told = perturb_block(model, {"x": codes})["x"]
    missing = model.published["x"].missing_code
    assert ((told == missing) == (codes == 5)).all()
    assert Perturber(model, secret=SECRET).perturb({"x": None}) == {"x": "?"}


@pytest.mark.parametrize(("value", "code"), [(-50, 0), (0, 0), (29.99, 29), (30, 29), (1e300, 29), ("7", 7)])
def test_numbers_off_the_range_are_clamped_on_a_client(value: float | str, code: int) -> None:
    assert owners_code(NUMBER, value) == code


@pytest.mark.parametrize("value", ["x", float("nan"), None, ""])
def test_what_is_no_number_is_told_to_its_owner(value: float | str | None) -> None:
    with pytest.raises(InputError, match="'n'"):
        owners_code(NUMBER, value)


def test_unknown_categories_absent_values_and_weak_secrets_are_refused() -> None:
    with pytest.raises(InputError, match="no value of its domain"):
        owners_code(KIND, "e")
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
