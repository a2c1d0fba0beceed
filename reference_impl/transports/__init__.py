"""How the reference hands mail over."""
