"""The values that rules decide about."""
