"""One race a file, named for what happens."""
