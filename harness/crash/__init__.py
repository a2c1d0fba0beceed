"""The kill campaign: agents are killed inside their calls, started again, and ask what became of it."""
