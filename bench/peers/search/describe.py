"""Writes the constraints of a recording, which Kernel Tuner's caches do not carry.

    describe.py RECORDING OUT

RECORDING is a CSV file with a JSON file beside it, or a journal. Sizes and limits of the device in a
journal's constraints become numbers. Kernel Tuner takes `if`, `else` and functions for parameters, and knows no
`ceildiv`: conditional expressions, `min`, `max` and `ceildiv` are written by operators.
"""

import ast
import gzip
import json
import sys


class Numbers(ast.NodeTransformer):
    """Puts numbers in place of sizes and of `device.LIMIT`."""

    def __init__(self, sizes, limits):
        self.sizes, self.limits = sizes, limits

    def visit_Name(self, node):
        return ast.Constant(self.sizes[node.id]) if node.id in self.sizes else node

    def visit_Attribute(self, node):
        return ast.Constant(self.limits[node.attr])

    def visit_IfExp(self, node):
        return self.written("(({test}) != 0) * {body} + (({test}) == 0) * {orelse}", test=node.test, body=node.body, orelse=node.orelse)

    def visit_Call(self, node):
        forms = {"min": "({a} < {b}) * {a} + ({a} >= {b}) * {b}", "max": "({a} < {b}) * {b} + ({a} >= {b}) * {a}",
                 "ceildiv": "-(-({a}) // ({b}))"}
        if node.func.id not in forms or len(node.args) != 2:
            return self.generic_visit(node)
        return self.written(forms[node.func.id], a=node.args[0], b=node.args[1])

    def written(self, form, **parts):
        texts = {name: f"({ast.unparse(self.visit(part))})" for name, part in parts.items()}
        return ast.parse(form.format(**texts), mode="eval").body


def of_journal(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as lines:
        header = json.loads(next(lines))
    numbers = Numbers(header.get("sizes", {}), header.get("device_features", {}))
    return [
        ast.unparse(ast.fix_missing_locations(numbers.visit(ast.parse(text, mode="eval"))))
        for text in header.get("constraints", {}).values()
    ]


def of_table(path):
    with open(path.removesuffix(".gz").removesuffix(".csv") + ".json") as file:
        return json.load(file).get("constraints") or []


def main():
    recording, out = sys.argv[1:]
    constraints = of_journal(recording) if ".jsonl" in recording else of_table(recording)
    with open(out, "w") as file:
        json.dump({"constraints": constraints}, file)


main()
