"""Holds numbers of the papers that the results are put beside."""

# J. Stevens, A. Kloeckner, "A Unified, Hardware-Fitted, Cross-GPU Performance Model", table 1: geometric means of the
# relative errors.
COST_MODEL = {"Titan X": 0.16, "Tesla C2070": 0.14, "Tesla K40c": 0.06, "Radeon R9 Fury": 0.42}

# C. Nugteren, V. Codreanu, "CLTune: A Generic Auto-Tuner for OpenCL Kernels", 2015.
# Table II, by the width of the filter: X_wg, Y_wg, X_wpt, Y_wpt, L$, VW, PAD, UNR.
CONVOLUTION_BEST = {
    "Tesla K40m": {3: (32, 8, 1, 8, 0, 1, 0, "yes"), 7: (32, 16, 2, 4, 2, 2, 1, "yes"),
                   11: (32, 8, 2, 8, 2, 2, 1, "yes")},
    "GTX480": {3: (64, 8, 1, 4, 0, 1, 0, "yes"), 7: (32, 8, 2, 8, 2, 2, 0, "yes"), 11: (32, 8, 2, 4, 1, 2, 0, "yes")},
}
# Table III: rows are the filter that the best of the columns' filters is applied to, in per cent.
FILTERS = (3, 7, 11)
MERITS = {3: (100, 82, 64), 7: (65, 100, 83), 11: (66, 75, 100)}
# Table IV: M_wg, N_wg, K_wg, M_dimC, N_dimC, L$_A, L$_B, M_dimA, N_dimB, M_stride, N_stride, M_vec, N_vec, K_wi.
PRODUCT_BEST = {
    "K40m": (128, 128, 16, 16, 16, 1, 1, 32, 16, 1, 0, 2, 1, 8),
    "GTX480": (64, 64, 32, 8, 16, 1, 1, 32, 32, 1, 0, 2, 2, 8),
    "HD7970": (128, 128, 32, 16, 16, 1, 1, 32, 32, 0, 1, 4, 4, 2),
    "Iris": (64, 64, 16, 8, 8, 1, 1, 8, 16, 1, 1, 4, 4, 8),
}
# Section VI-C: the other devices' best on the K40m, in per cent of its own.
PRODUCT_ELSEWHERE = {"GTX480": 50, "HD7970": 61, "Iris": 79}

# J. Filipovic et al., "Using hardware performance counters to speed up autotuning convergence on GPUs", 2022.
GPUS = ("GTX 680", "GTX 750", "GTX 1070", "RTX 2080")
BENCHMARKS = ("Coulomb sum", "Matrix trans.", "GEMM", "n-body", "Convolution")
# Table 2: sizes of the spaces.
SPACES = {"Coulomb sum": 210, "Matrix trans.": 1784, "GEMM": 5788, "n-body": 3134, "Convolution": 3928}
# Table 4: evaluations of random search until the average best is within 1.1 of the optimum.
RANDOM_STEPS = {
    "Coulomb sum": (19, 21, 34, 16), "Matrix trans.": (192, 24, 10, 47), "GEMM": (146, 248, 450, 260),
    "n-body": (27, 10, 37, 39), "Convolution": (327, 702, 349, 568),
}
# Table 5: times fewer with exact counters.
EXACT_GAIN = {
    "Coulomb sum": (3.8, 5.25, 5.67, 3.2), "Matrix trans.": (3.62, 2.0, 1.43, 1.12),
    "GEMM": (5.41, 7.75, 8.88, 10.83), "n-body": (1.93, 2.5, 2.85, 3.25), "Convolution": (8.18, 10.32, 15.86, 14.56),
}
# Table 6, Coulomb sum tuned on the RTX 2080 with models of these GPUs.
COULOMB_MODELS = {"680": 4.0, "750": 4.0, "1070": 4.0, "2080": 3.2}
