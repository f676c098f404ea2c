"""Reports of routes and sweeps, as text and as plain data."""
