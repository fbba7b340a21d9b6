"""Compile the generated project in the current folder; runs in the build environment.

Usage: compile.py WHEEL_FOLDER
"""

import sys

from pybind11.setup_helpers import ParallelCompile
from setuptools import build_meta

# One process for each core, or as many as the variable says.
ParallelCompile("PYLUCENE_JOBS").install()
build_meta.build_wheel(sys.argv[1])
