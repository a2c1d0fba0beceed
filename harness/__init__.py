"""The machine that runs and judges; it knows no implementation."""
