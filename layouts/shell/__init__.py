"""What is around the pages: menu, header and routing, and what surrounds a page in somebody else's layout as well."""
