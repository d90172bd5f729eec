"""Writers of other tools' languages."""
