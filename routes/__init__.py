"""In what order, and how parallel, groups are solved: to come; today this package only holds its place."""
