"""A plugin for pytest: the classes of `org.apache.pylucene` that lupyne extends.

Apache's build compiles them from Java, and Java calls the methods that Python overrides in them.
Here they are classes of Lucene that come close, whose overridden methods are never called.
"""

import sys
from types import ModuleType

import lucene  # noqa: F401 - the packages of Java can be imported after it only
from org.apache.lucene.analysis import LowerCaseFilter
from org.apache.lucene.analysis.standard import StandardAnalyzer
from org.apache.lucene.queryparser.classic import QueryParser

_CLASSES: dict[str, dict[str, type]] = {
    "analysis": {"PythonAnalyzer": StandardAnalyzer, "PythonTokenFilter": LowerCaseFilter},
    "queryparser": {},
    "queryparser.classic": {"PythonQueryParser": QueryParser},
}

sys.modules["org.apache.pylucene"] = ModuleType("org.apache.pylucene")
for package, classes in _CLASSES.items():
    name = f"org.apache.pylucene.{package}"
    sys.modules[name] = ModuleType(name)
    vars(sys.modules[name]).update(classes)
