"""Fuzzers, one for each boundary at which aced meets files and requests that others made.

``_runner`` runs a boundary in a process of its own. Each other module has a class ``Boundary``, which
makes cases and judges what aced does with them. benchmarks/fuzz.py runs them for as long as you like.
"""
