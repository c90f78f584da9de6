"""aced serve: serve the page that people label in."""

from __future__ import annotations

import socket
import threading
import time
import webbrowser
from typing import TYPE_CHECKING, Annotated

import typer

from aced._errors import InvalidInput
from aced._local import is_loopback
from aced.cli._project import Folder, local_name
from aced.project import Project

if TYPE_CHECKING:
    import uvicorn


def serve(
    project: Folder,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes any free port.")] = 8765,
    name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Who you are on this machine.")
    ] = None,
    tokens: Annotated[
        bool, typer.Option("--tokens", help="Ask for access links on this machine too (behind a proxy).")
    ] = False,
    label_studio: Annotated[
        bool, typer.Option("--label-studio", help="Also answer Label Studio, under /label-studio.")
    ] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Serve the labelling page until you stop it. Every answer is on disk before it counts as saved."""
    import uvicorn  # takes long to load, as the pages do

    from aced.web import make_app

    opened = Project(project)
    required = tokens or not is_loopback(host)
    user = None if required else name or local_name()
    if required and name is not None:
        raise InvalidInput("as", "is for this machine alone; others need a link from aced invite")
    listening = _listen(host, port)
    app = make_app(opened, tokens_required=required, local_user=user, label_studio=label_studio)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # it would write tokens down
        server_header=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=5,
    )
    written = f"[{host}]" if ":" in host else host
    address = f"http://{written}:{listening.getsockname()[1]}/"
    typer.echo(f"{address} (stop with Ctrl-C)")
    if required:
        typer.echo(
            "Everybody needs a link from aced invite. Put a server with TLS in front of this one: "
            "without TLS, others can read the links on the way."
        )
    server = uvicorn.Server(config)
    if show:
        threading.Thread(target=_show, args=(server, address), daemon=True).start()
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        pass  # uvicorn has stopped in order and raises it again
    finally:
        listening.close()
        opened.close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(128)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        raise InvalidInput(
            "host, port", f"cannot listen on {host}:{port} ({error.strerror}); choose others"
        ) from error
    return listening


def _show(server: uvicorn.Server, address: str) -> None:
    while not server.started:
        time.sleep(0.1)
    webbrowser.open(address)
