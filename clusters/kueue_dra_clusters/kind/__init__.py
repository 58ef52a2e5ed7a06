"""Kind clusters with a real Kueue and the DRA example driver, where pods really get devices."""
