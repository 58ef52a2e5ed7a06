"""The texts of April and July 2025, where they differ from what came after them."""
