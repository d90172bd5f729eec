"""IC3: lemmas found where a property needs them, relative to frames that over-approximate what k steps reach."""
