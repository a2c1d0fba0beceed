"""Hypothesis over both engines: the shape of the trouble is drawn, the rules judge what came of it."""
