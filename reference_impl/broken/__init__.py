"""The reference with exactly one safeguard removed, one module each."""
