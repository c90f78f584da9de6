"""A folder with items, features and a ledger, and the loop that people label in."""

from aced.project._brief import Repeated, brief_of, repeat_rounds
from aced.project._driver import Driver, Inline, InProcess, InThread
from aced.project._export import export_rows, neutral, write_csv, write_jsonl, write_parquet
from aced.project._files import EMBEDDING, FUNCTION, LEDGER, MEMORY
from aced.project._import import Imported, import_labels
from aced.project._keys import COMMANDS, class_keys
from aced.project._project import Item, Project
from aced.project._round import Brief, PlannedRound, plan_round, wilson
from aced.project._settings import check_batch, check_settings
from aced.project._summary import progress, summary
from aced.project._votes import Opinions, opinions

__all__ = [
    "COMMANDS",
    "EMBEDDING",
    "FUNCTION",
    "LEDGER",
    "MEMORY",
    "Brief",
    "Driver",
    "Imported",
    "InProcess",
    "InThread",
    "Inline",
    "Item",
    "Opinions",
    "PlannedRound",
    "Project",
    "Repeated",
    "brief_of",
    "check_batch",
    "check_settings",
    "class_keys",
    "export_rows",
    "import_labels",
    "neutral",
    "opinions",
    "plan_round",
    "progress",
    "repeat_rounds",
    "summary",
    "wilson",
    "write_csv",
    "write_jsonl",
    "write_parquet",
]
