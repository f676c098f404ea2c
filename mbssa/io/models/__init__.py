"""Model files that come with the package; each names its source."""
