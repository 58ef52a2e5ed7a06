"""Only on nodes: pods really get devices, and Kueue's quota decides which."""
