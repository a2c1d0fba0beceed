"""A target's module that can't be imported."""

print("a line on standard output that no report may carry")  # noqa: T201
raise RuntimeError("no licence file")
