"""The reference as a target: admission chain, manager, replay."""
