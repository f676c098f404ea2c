"""How each structural group is solved: to come; today this package only holds its place."""
