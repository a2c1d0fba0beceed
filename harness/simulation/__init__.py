"""Engine two: one thread, virtual time, every choice recorded."""
