"""Faulty variants of texts, drawn with a seed."""

import random
import re

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
WORD = re.compile(r"[A-Za-z_]{3,}")
STRING = re.compile(r'"[^"\n]*"')
MARK = re.compile(r'[\[\]{}()=,":%+*<>/|&-]')
NUMBERS = ["0", "-1", "-7", "1e400", "99999999999999999999999999999999999999999", "0.5", "true", '"many"', "[]"]
STRINGS = ['""', "7", "[1, 2]", '"1 +"', '"no such name"', "false"]


def variants(name, text, number, seed):
    """Returns at most `number` different texts that differ from `text`, the same ones for the same arguments."""
    found = dict.fromkeys(vary(text, random.Random(f"{seed}/{name}/{index}")) for index in range(number))
    found.pop(text, None)
    return list(found)


def vary(text, draw):
    """Returns `text` with one fault."""
    return draw.choice(FAULTS)(text, draw)


def replaced(pattern, replace):
    """Returns a fault: one match of a pattern, outside of comments if there is one, is replaced."""
    def fault(text, draw):
        matches = list(pattern.finditer(text))
        code = [match for match in matches if not in_comment(text, match.start())]
        if not matches:
            return text
        match = draw.choice(code or matches)
        return text[:match.start()] + replace(match[0], draw) + text[match.end():]
    return fault


def in_comment(text, place):
    """Tells whether a place lies behind a `#` or `//` that begins a comment of its line; directives are none."""
    return bool(re.match(r"\s*(#|//)(?!.*atf::)", text[text.rfind("\n", 0, place) + 1:]))


def misspelt(word, draw):
    place = draw.randrange(len(word) - 1)
    swapped = word[:place] + word[place + 1] + word[place] + word[place + 2:]
    return swapped if swapped != word else word[1:]


def of_lines(change):
    """Returns a fault that changes the list of lines at the place of one that is neither empty nor a comment."""
    def fault(text, draw):
        lines = text.splitlines(keepends=True)
        places = [at for at, line in enumerate(lines) if line.strip() and not in_comment(line, 0)]
        if places:
            change(lines, draw.choice(places), draw)
        return "".join(lines)
    return fault


def dropped(lines, at, _):
    del lines[at]


def duplicated(lines, at, _):
    lines.insert(at, lines[at])


def moved(lines, at, draw):
    lines.insert(draw.randrange(len(lines)), lines.pop(at))


def truncated(text, draw):
    return text[:draw.randrange(len(text))] if text else text


FAULTS = [
    of_lines(dropped), of_lines(duplicated), of_lines(moved), truncated,
    replaced(NUMBER, lambda _, draw: draw.choice(NUMBERS)),
    replaced(NUMBER, lambda _, draw: draw.choice(NUMBERS)),
    replaced(STRING, lambda _, draw: draw.choice(STRINGS)),
    replaced(WORD, misspelt), replaced(WORD, misspelt), replaced(WORD, misspelt),
    replaced(MARK, lambda _, draw: ""),
    replaced(MARK, lambda mark, draw: draw.choice("[]{}()=,\"%*<")),
]
