"""From what a user has (texts, images, a table) to items a person can look at, and features."""

from aced.items._custom import embed_with
from aced.items._embedding import Embedding
from aced.items._features import features_from
from aced.items._items import Items
from aced.items._read import read_items

__all__ = ["Embedding", "Items", "embed_with", "features_from", "read_items"]
