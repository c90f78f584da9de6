"""Label Studio: drawn items go there as tasks, and people's answers come back."""

from aced.adapters.label_studio._annotations import (
    delete as delete,
    load_export as load_export,
    read_export as read_export,
)
from aced.adapters.label_studio._http import routes as routes
from aced.adapters.label_studio._tasks import config as config, tasks as tasks
