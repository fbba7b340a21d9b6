"""Collections of the configuration."""

from typing import TYPE_CHECKING

from shared.errors import ConfigurationError, FilterError
from shared.model import schema
from shared.model.filters import COLLECTION, Collection, Filter, parse_filter
from shared.settings.current import collection_settings

if TYPE_CHECKING:
    from shared.settings.model import CollectionSetting


def configured_collections() -> tuple[Collection, ...]:
    """Return the collections of the configuration, which searches can name.

    Raises:
        ConfigurationError: the file cannot be read, or something in it or in a variable is wrong.
    """
    return tuple(map(as_collection, collection_settings()))


def as_collection(setting: "CollectionSetting") -> Collection:
    """Return the collection that a setting describes.

    Raises:
        ConfigurationError: a filter is not in the notation, or names a collection.
    """
    try:
        filters = tuple(map(parse_filter, setting.filters))
    except FilterError as error:
        raise ConfigurationError(f"the collection {setting.name}", str(error)) from error
    if any(condition.field == COLLECTION for condition in filters):
        raise ConfigurationError(
            f"the collection {setting.name}", "cannot be made of other collections"
        )
    if setting.folder is not None:
        beginning = f"{setting.folder.as_posix().rstrip('/')}/"
        filters = (Filter(schema.FILE_PATH, "prefix", beginning), *filters)
    return Collection(setting.name, setting.description, filters)
