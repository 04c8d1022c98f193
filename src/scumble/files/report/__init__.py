"""The pages of a release, report.html and README.md, made from published data only."""
