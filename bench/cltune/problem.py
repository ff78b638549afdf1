"""Prints the problem whose space a recording has, for replaying it: `problem.py RECORDING.csv.gz`.

The JSON file beside the recording has the parameters and the constraints.
"""

import json
import sys
from pathlib import Path

recording = Path(sys.argv[1])
described = json.loads(recording.with_name(recording.name.removesuffix(".csv.gz") + ".json").read_text())
print(f'[problem]\nname = "{described["name"]}"\n\n[kernel]\ncommand = ["false"]  # only replayed\n\n[parameters]')
for name, values in described["params"].items():
    print(f"{name} = {values}")
print("\n[constraints]")
for number, constraint in enumerate(described["constraints"], 1):
    print(f'"published constraint {number}" = "{constraint}"')
