"""Counts one kernel with Loopy and prints CPU seconds and counts as JSON.

    peer.py KERNEL X Y SIZES...      (integers)

Counts are per work-item (sub-groups of one), with redundant ones and without operations in
subscripts: the convention of the paper and of Tunesmith.
"""

import json
import os
import sys
import time

os.environ["LOOPY_NO_CACHE"] = "1"

import loopy as lp
import numpy as np

REPEATS = 3
EVALUATIONS = 200


def kernel(domain, instructions, arrays, sizes="n"):
    """A kernel whose sizes are at least 1."""
    assumptions = " and ".join(f"{size} > 0" for size in sizes.split())
    knl = lp.make_kernel(domain, instructions, [*arrays, "..."], assumptions=assumptions, target=lp.OpenCLTarget(),
                         lang_version=(2018, 2))
    return lp.add_dtypes(knl, {size: np.int32 for size in sizes.split()})


def array(name, *shape, order="C"):
    return lp.GlobalArg(name, np.float32, shape=shape, order=order)


def number(name):
    return lp.ValueArg(name, np.float32)


def grouped(knl, rows, columns, x, y):
    """The last axis of work-groups runs along `columns`."""
    knl = lp.split_iname(knl, rows, y, outer_tag="g.1", inner_tag="l.1")
    return lp.split_iname(knl, columns, x, outer_tag="g.0", inner_tag="l.0")


def line(knl, x):
    return lp.split_iname(knl, "i", x, outer_tag="g.0", inner_tag="l.0")


def product(x, y, a, b, tiled=True):
    sizes = " ".join(sorted({*a, *b}))
    domain = f"[{','.join(sizes.split())}] -> {{[i,j,k]: 0<=i<{a[0]} and 0<=j<{b[1]} and 0<=k<{a[1]}}}"
    arrays = [array("a", *a), array("b", *b), array("c", a[0], b[1])]
    knl = kernel(domain, "c[i,j] = sum(k, a[i,k]*b[k,j])", arrays, sizes)
    knl = grouped(knl, "i", "j", x, y)
    if tiled:
        knl = lp.split_iname(knl, "k", x)
        knl = lp.add_prefetch(knl, "a", ["k_inner", "i_inner"], default_tag="l.auto")
        knl = lp.add_prefetch(knl, "b", ["j_inner", "k_inner"], default_tag="l.auto")
    return knl


def vectors(x, stride):
    arrays = [array(name, f"{stride}*n") for name in "abc"] + [number("alpha"), number("beta")]
    return line(kernel("{[i]: 0<=i<n}", f"c[{stride}*i] = alpha*a[{stride}*i] + beta*b[{stride}*i]", arrays), x)


def transpose(x, y, instruction, tiled=False):
    knl = kernel("{[i,j]: 0<=i,j<n}", instruction, [array("a", "n", "n"), array("b", "n", "n")])
    knl = grouped(knl, "i", "j", x, y)
    return lp.add_prefetch(knl, "a", ["i_inner", "j_inner"], default_tag="l.auto") if tiled else knl


def finite_differences(x, y):
    value = "u[i+1,j+1]**2 - 1.0 - 4.0*u[i+1,j+1] + u[i+2,j+1] + u[i,j+1] + u[i+1,j+2] + u[i+1,j]"
    knl = kernel("{[i,j]: 0<=i,j<n}", f"res[i,j] = {value}", [array("u", "n+2", "n+2"), array("res", "n", "n")])
    knl = grouped(knl, "i", "j", x, y)
    return lp.add_prefetch(knl, "u", ["i_inner", "j_inner"], fetch_bounding_box=True, default_tag="l.auto")


def convolution(x, y):
    domain = "{[im,jf,px,py,c,xi,eta]: 0<=im,jf,c<3 and 0<=px,py<n and -3<=xi,eta<=3}"
    value = "img[im, px-xi+3, py-eta+3, c]*f[jf, xi+3, eta+3, c]"
    arrays = [array("img", 3, "n+6", "n+6", 3), array("f", 3, 7, 7, 3), array("r", 3, 3, "n", "n")]
    return grouped(kernel(domain, f"r[im,jf,px,py] = sum((c,xi,eta), {value})", arrays), "px", "py", x, y)


def nbody(x, _):
    own = "\n".join(f"<> own{axis} = x[{axis},i]" for axis in range(3))
    distance = "+".join(f"(own{axis} - x$other[{axis},j])**2" for axis in range(3))
    instructions = f"for i\n{own}\npot[i] = sum(j, rsqrt(eps + {distance}))\nend"
    knl = kernel("{[i,j]: 0<=i,j<n}", instructions, [array("x", 3, "n", order="F"), array("pot", "n"), number("eps")])
    knl = lp.split_iname(line(knl, x), "j", x)
    knl = lp.add_prefetch(knl, "x$other", ["j_inner"], default_tag=None, dim_arg_names=["axis", "body"],
                          temporary_address_space=lp.AddressSpace.LOCAL)
    return lp.tag_inames(knl, {"axis": "unr", "body": "l.0"})


KERNELS = {
    "finite_differences": finite_differences,
    "matmul_skinny": lambda x, y: product(x, y, ("n", "m"), ("m", "l")),
    "convolution": convolution,
    "nbody": nbody,
    "matmul_naive": lambda x, y: product(x, y, ("n", "n"), ("n", "n"), tiled=False),
    "vector_stride1": lambda x, _: vectors(x, 1),
    "vector_stride2": lambda x, _: vectors(x, 2),
    "transpose_tiled": lambda x, y: transpose(x, y, "b[j,i] = a[i,j]", tiled=True),
    "copy": lambda x, _: line(kernel("{[i]: 0<=i<n}", "b[i] = a[i]", [array("a", "n"), array("b", "n")]), x),
}


def count(knl):
    """Loopy's three maps, the number of work-groups left out."""
    counted = {"count_redundant_work": True, "subgroup_size": 1}
    return (lp.get_op_map(knl, count_within_subscripts=False, **counted), lp.get_mem_access_map(knl, **counted),
            lp.get_synchronization_map(knl, subgroup_size=1))


def least(action, times):
    seconds = []
    for _ in range(times):
        start = time.process_time()
        result = action()
        seconds.append(time.process_time() - start)
    return min(seconds), result


def named(operations, accesses, sizes):
    """Counts by the names of ours; accesses summed over strides."""
    totals = {}
    for operation, polynomial in operations.items():
        kind = operation.name.removeprefix("func:")
        if operation.dtype.dtype == np.float32:
            key = f"op:f32:{kind}"
            totals[key] = totals.get(key, 0) + polynomial.eval_with_dict(sizes)
    for access, polynomial in accesses.items():
        space = "global" if access.mtype == "global" else "local"
        direction = getattr(access.direction, "name", access.direction).lower()
        key = f"{space} {direction}"
        totals[key] = totals.get(key, 0) + polynomial.eval_with_dict(sizes)
    totals.pop("local store", None)
    return {key: total for key, total in totals.items() if total}


def main():
    name, (x, y, *values) = sys.argv[1], map(int, sys.argv[2:])
    lp.set_caching_enabled(False)
    seconds, maps = least(lambda: count(KERNELS[name](x, y)), REPEATS)
    sizes = dict(zip("nml", values))
    polynomials = [polynomial for one in maps for polynomial in one.values()]

    def evaluate():
        for polynomial in polynomials:
            polynomial.eval_with_dict(sizes)

    evaluation, _ = least(lambda: [evaluate() for _ in range(EVALUATIONS)], REPEATS)
    operations, accesses, _ = maps
    counts = named(operations, accesses, sizes)
    print(json.dumps({"count": seconds, "evaluate": evaluation / EVALUATIONS, "counts": counts}))


main()
