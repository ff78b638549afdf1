"""Other tuners' interfaces over Tunesmith."""
