"""Contact leases and idempotent sending, written to be read beside the spec and ported."""
