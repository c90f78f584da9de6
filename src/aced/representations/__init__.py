"""Representations: the columns in which hypotheses are linear, chosen by the labels, and the model."""

from aced.representations._as_sklearn import as_classifier as as_classifier, as_linear as as_linear
from aced.representations._choice import KINDS as KINDS, Choice as Choice
from aced.representations._left_out import by_rows as by_rows
from aced.representations._lift import Lift as Lift
from aced.representations._lifted import is_held as is_held, is_lifted as is_lifted
from aced.representations._model import Model as Model
from aced.representations._representations import (
    WANTED as WANTED,
    Representations as Representations,
    components as components,
)
from aced.representations._scaling import Scaling as Scaling, scalings as scalings
