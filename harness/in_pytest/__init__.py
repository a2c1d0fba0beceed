"""What the pytest plugin does once a target is named; imported only then."""
