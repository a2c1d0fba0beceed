"""Which layer stops which duplicate: agent habits against the layers around a send (spec: O1, K9)."""
