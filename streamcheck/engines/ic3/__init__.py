"""IC3: lemmas that a property needs, relative to frames that over-approximate what k steps reach."""
