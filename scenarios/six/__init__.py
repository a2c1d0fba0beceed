"""The six races, in their running order (spec: T)."""
