"""The in-memory control plane: a store, a clock, the controllers that Kueue runs, and the target made of them."""
