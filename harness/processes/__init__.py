"""Engine one: agents as operating-system processes."""
