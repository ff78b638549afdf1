"""Prints the time of work on the device in milliseconds, by events around it.

    by_events.py gemm M N K    cuBLAS's single-precision matrix product without TF32
    by_events.py copy BYTES    a copy within the device's memory

Exits with 1 and the reason if it cannot be timed.
"""

import ctypes
import glob
import os
import sys

DEFAULT = 0  # CUBLAS_DEFAULT_MATH: full single precision, no TF32


class Unavailable(Exception):
    """The driver or cuBLAS cannot be used; the text says why."""


def library(stem):
    folders = [os.environ.get("TUNESMITH_NVIDIA", ""), "/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu"]
    found = [path for folder in folders if folder for path in sorted(glob.glob(f"{folder}/{stem}.so*"), reverse=True)]
    for name in [*found, f"{stem}.so.13", f"{stem}.so.12", f"{stem}.so.11", f"{stem}.so", f"{stem}.so.1"]:
        try:
            return ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
    raise Unavailable(f"{stem} is not there")


def call(function, *arguments):
    status = function(*arguments)
    if status:
        raise Unavailable(f"{function.__name__} fails with {status}")


def opened():
    """Returns the driver with a context on the first device."""
    cuda = library("libcuda")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call(cuda.cuInit, 0)
    call(cuda.cuDeviceGet, ctypes.byref(device), 0)
    call(cuda.cuDevicePrimaryCtxRetain, ctypes.byref(context), device)
    call(cuda.cuCtxSetCurrent, context)
    return cuda


def copy_ms(count, samples=20):
    """The median time of a copy of `count` bytes in milliseconds."""
    cuda = opened()
    source, target = (allocated(cuda, count) for _ in range(2))
    return timed(cuda, lambda: call(cuda.cuMemcpyDtoDAsync_v2, target, source, ctypes.c_size_t(count), None), samples)


def sgemm_ms(m, n, k, samples=20):
    """The median time of C = A B in milliseconds."""
    cuda = opened()
    try:
        library("libcublasLt")
    except Unavailable:
        pass  # cuBLAS finds it itself, or says that it is missing
    cublas = library("libcublas")
    buffers = [allocated(cuda, 4 * count) for count in (m * k, k * n, m * n)]
    handle = ctypes.c_void_p()
    call(cublas.cublasCreate_v2, ctypes.byref(handle))
    call(cublas.cublasSetMathMode, handle, DEFAULT)
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    a, b, c = buffers

    def multiply():
        call(cublas.cublasSgemm_v2, handle, 0, 1, m, n, k, ctypes.byref(one), a, m, b, n, ctypes.byref(zero), c, m)

    return timed(cuda, multiply, samples)


def allocated(cuda, size):
    address = ctypes.c_uint64()
    call(cuda.cuMemAlloc_v2, ctypes.byref(address), ctypes.c_size_t(size))
    call(cuda.cuMemsetD32_v2, address, 0x3F000000, ctypes.c_size_t(size // 4))
    return ctypes.c_void_p(address.value)


def timed(cuda, work, samples):
    events = [ctypes.c_void_p(), ctypes.c_void_p()]
    for event in events:
        call(cuda.cuEventCreate, ctypes.byref(event), 0)
    found = []
    for _ in range(samples + 3):
        call(cuda.cuEventRecord, events[0], None)
        work()
        call(cuda.cuEventRecord, events[1], None)
        call(cuda.cuEventSynchronize, events[1])
        elapsed = ctypes.c_float()
        call(cuda.cuEventElapsedTime, ctypes.byref(elapsed), *events)
        found.append(elapsed.value)
    # The first ones choose and load a kernel.
    return sorted(found[3:])[samples // 2]


if __name__ == "__main__":
    try:
        print({"gemm": sgemm_ms, "copy": copy_ms}[sys.argv[1]](*map(int, sys.argv[2:])))
    except Unavailable as reason:
        sys.exit(f"not timed: {reason}")
