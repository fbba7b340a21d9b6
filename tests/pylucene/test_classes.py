"""The list of classes to wrap."""

from pathlib import Path

from backend import source


def test_the_class_list_names_each_class_and_package_once() -> None:
    listed = source.class_list()
    for names in (listed.classes, listed.packages):
        assert names
        assert len(set(names)) == len(names)


def test_packages_are_told_from_classes_by_their_star(tmp_path: Path) -> None:
    path = tmp_path / "classes.txt"
    path.write_text("# A comment\n\njava.util.Map\n java.util.Map$Entry\njava.io.*\n")
    listed = source.class_list(path)
    assert listed.classes == ("java.util.Map", "java.util.Map$Entry")
    assert listed.packages == ("java.io",)
