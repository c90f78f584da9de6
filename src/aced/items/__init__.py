"""Turn what a user has (texts, images, a table) into items that a person can see, and features."""

from aced.items._class_columns import class_columns as class_columns, labels_of as labels_of
from aced.items._custom import embed_with as embed_with
from aced.items._embedding import Embedding as Embedding
from aced.items._features import features_from as features_from
from aced.items._items import Items as Items
from aced.items._predictions import columns_of as columns_of, read_predictions as read_predictions
from aced.items._read import read_items as read_items, reading_of as reading_of
from aced.items._thumbnails import BrokenImages as BrokenImages
