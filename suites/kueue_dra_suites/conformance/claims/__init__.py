"""Claims that are refused, and how they recover."""
