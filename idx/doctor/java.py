"""Checks of Lucene and the Java virtual machine."""

import os
import time

from idx.doctor import machine
from idx.doctor.finding import Finding, Findings
from shared.errors import ConfigurationError, InstallationError, JavaStartError
from shared.settings.defaults import VARIABLES
from shared.settings.machine import default_java_heap
from shared.version import lucene_versions


def lucene() -> Findings:
    """Check the installed Lucene."""
    try:
        import shared.java  # noqa: F401 - this looks at the installation

        package, release = lucene_versions()
    except InstallationError as error:
        yield Finding("Lucene", "problem", str(error))
    else:
        yield Finding("Lucene", "ok", f"Lucene {release}, pylucene {package}")


def java() -> Findings:
    """Check the memory limits, the start-up cache and the start of the virtual machine."""
    from shared.java import startup_cache, vm

    try:
        needed = vm.address_space()
    except ConfigurationError:
        # Reported by `settings`; the remaining checks use the default.
        os.environ[VARIABLES["java_heap"]] = str(default_java_heap())
        needed = vm.address_space()
    yield from machine.memory(needed)
    cache = startup_cache.path()
    if cache.is_file():
        yield Finding("Start-up cache", "ok", f"{cache}, {cache.stat().st_size / 1e6:.0f} MB")
    else:
        older = any(cache.parent.glob("lucene-*.aot"))
        yield Finding(
            "Start-up cache",
            "warning",
            f"there is {'only one for another version of Lucene' if older else 'none'}, so every "
            "start takes three times as long; the first command that uses "
            f"an index makes it in the background. If {cache.parent} stays empty, make it: "
            "python -m shared.maintenance.train_startup",
        )
    started = time.perf_counter()
    try:
        vm.start()
    except JavaStartError as error:
        yield Finding("Java", "problem", str(error))
    else:
        yield Finding("Java", "ok", f"started in {time.perf_counter() - started:.2f} s")
