"""Rules over a history, one family a file."""
