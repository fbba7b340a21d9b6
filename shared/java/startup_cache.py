"""Ahead-of-time cache that makes Lucene start in a third of the time.

JDK 25 can record the classes that a run loaded, linked and profiled, and start the next run with
them (JEP 483, JEP 514, JEP 515). `shared.maintenance.train_startup` makes the cache. Without one
everything works, only more slowly.
"""

import hashlib
import sys
from pathlib import Path

import lucene


def path() -> Path:
    """Return the path of the cache of this environment, whether it exists or not.

    The name contains a hash of Lucene's jars, so that a cache trained for other jars is never used;
    the virtual machine itself refuses one that another version of it wrote.
    """
    jars = sorted(Path(jar) for jar in lucene.CLASSPATH.split(":"))
    state = [(jar.name, jar.stat().st_size, jar.stat().st_mtime_ns) for jar in jars]
    key = hashlib.sha256(repr(state).encode()).hexdigest()[:16]
    return Path(sys.prefix) / "share" / "mcp-lucene" / f"lucene-{key}.aot"


def options() -> tuple[str, ...]:
    """Return the options of the virtual machine that use the cache; empty if there is no cache."""
    cache = path()
    return (f"-XX:AOTCache={cache}",) if cache.is_file() else ()
