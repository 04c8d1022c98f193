"""The pages of a release: report.html and README.md, made from what was published and nothing else."""
