"""Jobs on a whole index: check, backup, restore, repair, rebuild, optimize, purge, unlock."""

import shared.java  # noqa: F401 - makes the packages org and java importable
