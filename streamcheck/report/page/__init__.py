"""Pages: results, runs and compiled code as HTML files that need nothing else."""
