"""Nothing that the platform could call."""
