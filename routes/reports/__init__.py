"""What is shown of routes, as text for people and as plain data."""
