"""Robot descriptions: what formats of links and joints share before they become a mechanism."""
