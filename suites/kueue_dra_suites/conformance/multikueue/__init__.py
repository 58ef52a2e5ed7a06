"""Work that a manager dispatches to other clusters."""
