"""The ahead-of-time cache that makes Lucene start in a third of the time.

JDK 25 can record which classes a run loaded, linked and profiled, and begin the next run with them
(JEP 483, JEP 514, JEP 515). `shared.maintenance.train_startup` makes the cache. Without one
everything works, only slower.
"""

import hashlib
import sys
from pathlib import Path

import lucene


def path() -> Path:
    """Where the cache of this environment lies, whether it exists or not.

    The name holds a hash of what Lucene's jars are, so that a cache trained for others is never
    used; the virtual machine itself refuses one that another version of it wrote.
    """
    jars = sorted(Path(jar) for jar in lucene.CLASSPATH.split(":"))
    state = [(jar.name, jar.stat().st_size, jar.stat().st_mtime_ns) for jar in jars]
    key = hashlib.sha256(repr(state).encode()).hexdigest()[:16]
    return Path(sys.prefix) / "share" / "mcp-lucene" / f"lucene-{key}.aot"


def options() -> tuple[str, ...]:
    """The options of the virtual machine that use the cache; none where there is no cache."""
    cache = path()
    return (f"-XX:AOTCache={cache}",) if cache.is_file() else ()
