"""The README: its example is run, and prints what the README says."""

import re
import subprocess
import sys
from pathlib import Path


def test_the_example_prints_what_the_readme_says(pylucene: Path) -> None:
    text = (pylucene / "README.md").read_text(encoding="utf-8")
    program, printed = re.findall(r"```(?:python|text)\n(.*?)```", text, re.DOTALL)
    done = subprocess.run(
        (sys.executable, "-c", program),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == printed, done.stderr
