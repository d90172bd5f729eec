"""Problems to simpler problems, each with the way back."""
