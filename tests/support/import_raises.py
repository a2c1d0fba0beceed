"""A target's module that can't be imported."""

print("a line on standard output that no report may carry")
raise RuntimeError("no licence file")
