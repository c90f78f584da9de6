"""The page that people label in, and the page that leads watch."""

from aced.web._app import make_app as make_app
from aced.web._server import Listening as Listening, make_server as make_server
