"""Makes the data of the OpenCL comparison and says where its kernel finds them."""

import json
import pathlib

import numpy

ALPHA, BETA = numpy.float32(1.5), numpy.float32(0.5)


class Live:
    """The kernel, its configurations and its buffers."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        description = json.loads((folder / "live.json").read_text())
        self.source = (folder / "live.cl").read_text()
        self.configs = description["configs"]
        self.sizes = description["sizes"]
        self.options = description["options"] + [f"-D{name}={value}" for name, value in self.sizes.items()]
        m, n, k = (self.sizes[name] for name in "MNK")
        random = numpy.random.default_rng(1)
        self.a = random.uniform(-1, 1, (k, m)).astype(numpy.float32)
        self.b = random.uniform(-1, 1, (k, n)).astype(numpy.float32)
        # Column-major: M changes fastest.
        self.c = random.uniform(-1, 1, (n, m)).astype(numpy.float32)
        self.expected = ALPHA * (self.b.T @ self.a) + BETA * self.c

    def local(self, number):
        config = self.configs[number]
        return config["MDIMC"], config["NDIMC"]

    def groups(self, number):
        config = self.configs[number]
        return self.sizes["M"] // config["MWG"], self.sizes["N"] // config["NWG"]

    def items(self, number):
        return tuple(groups * local for groups, local in zip(self.groups(number), self.local(number)))
