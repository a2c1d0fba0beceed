"""The kill campaign: agents are killed inside their sends, started again, and ask what became of it."""
