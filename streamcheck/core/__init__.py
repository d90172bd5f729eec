"""Types, operators, terms and values, used by every other room. It imports none of them."""
