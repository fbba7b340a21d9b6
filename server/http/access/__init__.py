"""Who may ask: tokens, OAuth, hosts and origins."""
