"""What handlers share while the server runs: its state, threads, scopes and known values."""
