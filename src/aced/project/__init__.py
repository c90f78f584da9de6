"""A folder with items, features and a ledger, and the loop that people label in."""

from aced.project._audit import (
    AUDIT as AUDIT,
    BATCH as BATCH,
    EXPLORE as EXPLORE,
    WITHIN as WITHIN,
    audit_features as audit_features,
    audited as audited,
)
from aced.project._brief import (
    Repeated as Repeated,
    brief_of as brief_of,
    repeat_rounds as repeat_rounds,
)
from aced.project._changes import (
    Changed as Changed,
    add_class as add_class,
    labels_changed as labels_changed,
    merge_class as merge_class,
    rename_class as rename_class,
    undo_change as undo_change,
)
from aced.project._classes import (
    PREFIX as PREFIX,
    ClassGone as ClassGone,
    check_classes as check_classes,
    class_table as class_table,
    counted_as as counted_as,
    listed as listed,
)
from aced.project._confusion import knows_classes as knows_classes
from aced.project._driver import (
    Driver as Driver,
    Inline as Inline,
    InProcess as InProcess,
    InThread as InThread,
)
from aced.project._export import (
    OF_CLASS as OF_CLASS,
    export_rows as export_rows,
    finite as finite,
    neutral as neutral,
    write_csv as write_csv,
    write_jsonl as write_jsonl,
    write_parquet as write_parquet,
)
from aced.project._files import (
    EMBEDDING as EMBEDDING,
    FEATURES as FEATURES,
    FUNCTION as FUNCTION,
    ITEMS as ITEMS,
    LEDGER as LEDGER,
    MEMORY as MEMORY,
    check_all as check_all,
    find_ledger as find_ledger,
)
from aced.project._history import (
    ANSWERS as ANSWERS,
    MOST_SHOWN as MOST_SHOWN,
    Answer as Answer,
    Page as Page,
    history as history,
)
from aced.project._import import (
    as_seconds as as_seconds,
    from_prediction as from_prediction,
    import_labels as import_labels,
    made_by_machine as made_by_machine,
    row_finder as row_finder,
)
from aced.project._item import Item as Item, KeyTaken as KeyTaken, Undone as Undone
from aced.project._keys import (
    COMMANDS as COMMANDS,
    class_keys as class_keys,
    command_key as command_key,
    named as named,
    narrow as narrow,
    picked_by_digits as picked_by_digits,
)
from aced.project._note import guess as guess
from aced.project._people import check_name as check_name
from aced.project._project import Project as Project
from aced.project._round import (
    Brief as Brief,
    PlannedRound as PlannedRound,
    plan_round as plan_round,
    wilson as wilson,
)
from aced.project._settings import check_batch as check_batch, check_settings as check_settings
from aced.project._shares import class_shares as class_shares
from aced.project._summary import progress as progress, summary as summary
from aced.project._take import (
    Given as Given,
    Imported as Imported,
    LeftOut as LeftOut,
    labels_by_row as labels_by_row,
    take_labels as take_labels,
    write_answer as write_answer,
)
from aced.project._votes import (
    Opinions as Opinions,
    opinions as opinions,
    sole_probability as sole_probability,
)
