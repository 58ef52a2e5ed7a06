"""Rules of Kueue's validating webhooks (Kueue: pkg/webhooks)."""
