"""Access control: tokens, OAuth, hosts and origins."""
