"""What the machine must have: each thing that is missing is named, with the way to get it."""

import sys
import sysconfig
from pathlib import Path

import pytest
from backend import toolchain
from backend.errors import BuildError


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH, with a g++ in it; CXX is not set."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program(folder / "g++")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CXX", raising=False)
    return folder


def program(path: Path) -> None:
    """Make an empty program."""
    path.touch(mode=0o755)


def test_the_compiler_that_python_was_built_with_is_preferred(
    tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tools / "c++")
    monkeypatch.setattr(sysconfig, "get_config_var", {"CXX": "c++ -pthread"}.get)
    assert toolchain.require() == "c++ -pthread"


@pytest.mark.usefixtures("tools")
def test_another_compiler_serves_when_that_one_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_config_var", {"CXX": "/opt/llvm/bin/clang++"}.get)
    assert toolchain.require() == "g++"


@pytest.mark.usefixtures("tools")
def test_a_wrong_cxx_is_an_error_and_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(BuildError, match="CXX names, 'no-such-compiler', is not on the PATH"):
        toolchain.require()


@pytest.mark.usefixtures("tools")
def test_a_blank_cxx_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_config_var", {"CXX": " "}.get)
    monkeypatch.setenv("CXX", " ")
    assert toolchain.require() == "g++"


@pytest.mark.usefixtures("tools")
def test_a_cxx_with_an_unclosed_quote_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", 'ccache "g++')
    with pytest.raises(BuildError, match=r"""'ccache "g\+\+', cannot be read \(No closing quot"""):
        toolchain.require()


def test_missing_headers_are_named(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda _name: str(tools))
    with pytest.raises(BuildError, match=r"Python\.h.*apt install python3-dev"):
        toolchain.require()


@pytest.mark.usefixtures("tools")
def test_a_missing_ensurepip_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(BuildError, match=r"ensurepip.*apt install python3-venv"):
        toolchain.require()


def test_only_linux_is_supported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(BuildError, match="on Linux only for now, not on darwin"):
        toolchain.require()
