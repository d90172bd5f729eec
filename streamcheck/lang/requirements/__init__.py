"""Requirements in restricted English, as streams: the sentence, its expressions, the meaning of its template."""
