"""How many agents a mailbox takes: a working day of traffic, run in virtual time, cell by cell."""
