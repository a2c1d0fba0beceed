"""How a run's choices are made, one strategy a file."""
