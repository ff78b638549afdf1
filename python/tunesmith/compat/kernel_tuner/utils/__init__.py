"""Holds what scripts take from `kernel_tuner.utils`."""
