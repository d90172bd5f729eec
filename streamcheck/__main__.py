"""`python -m streamcheck`."""

from streamcheck.cli import main

main()
