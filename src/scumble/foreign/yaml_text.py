"""YAML from elsewhere, bounded in size, line length, words and brackets while it is read, and in depth and number of
values after aliases are replaced."""

from typing import Any

from ruamel.yaml.error import YAMLError

from scumble.errors import InputError
from scumble.foreign.documents import TooLargeDocument, check_size
from scumble.foreign.plain_yaml import Tokens, load_yaml, parse_plain_yaml

LONGEST_TEXT = 1 << 23
"""Characters of a file. ruamel.yaml reads 8 MiB of short entries in about half a minute."""
LONGEST_LINE = 1 << 20
DEEPEST = 200
MOST_VALUES = 1_000_000


def parse_yaml(text: str, name: str) -> Any:
    """YAML as nested mappings and lists whose scalars are the text in the file. Raises `InputError`."""
    if len(text) > LONGEST_TEXT:
        raise InputError(f"{name} is longer than {LONGEST_TEXT >> 20} MiB. Put long taxonomies into CSV files.")
    longest = max(map(len, text.split("\n")))
    if longest > LONGEST_LINE:
        raise InputError(f"{name} has a line of more than {LONGEST_LINE >> 20} MiB. Write one entry on each line.")
    try:
        tokens = Tokens()
        data = parse_plain_yaml(text, tokens)
        if data is None:
            data = load_yaml(text, tokens)
        check_size(data, deepest=DEEPEST, most=MOST_VALUES)
    except RecursionError:
        raise InputError(f"{name} is nested too deeply. Write flatter taxonomies.") from None
    except TooLargeDocument as error:
        raise InputError(f"{name}: {error}, aliases replaced. Write a smaller schema.") from None
    except YAMLError as error:
        problem = str(getattr(error, "problem", None) or error).splitlines()[0]
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark is not None else ""
        raise InputError(f"{name}{where} is not valid YAML: {problem}. Fix that line.") from error
    return data
