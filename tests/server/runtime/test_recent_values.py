"""Values that are kept while they are used."""

from functools import partial

from server.runtime.recent_values import RecentValues


def test_the_least_recently_used_value_is_made_again() -> None:
    made: list[str] = []

    def make(key: str) -> str:
        made.append(key)
        return key.upper()

    values = RecentValues[str](2)
    for key in ("a", "b", "a", "c", "a", "b"):
        assert values.get(key, partial(make, key)) == key.upper()
    assert made == ["a", "b", "c", "b"]
