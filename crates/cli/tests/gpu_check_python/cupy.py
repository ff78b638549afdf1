"""Stands in for CuPy, which is only imported."""
