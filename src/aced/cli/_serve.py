"""aced serve: serve the page that people label in."""

from __future__ import annotations

import signal
import socket
import threading
import time
import webbrowser
from typing import TYPE_CHECKING, Annotated

import typer

from aced._errors import InvalidInput
from aced._local import is_loopback
from aced.cli._own_link import enter, own_token, stepping_stone
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
        bool, typer.Option("--tokens", help="Print no link for you: everybody needs aced invite.")
    ] = False,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Let in whoever can reach this machine's own address.")
    ] = False,
    label_studio: Annotated[
        bool, typer.Option("--label-studio", help="Also answer Label Studio, under /label-studio.")
    ] = False,
    show: Annotated[bool, typer.Option("--open", help="Open your link in a browser.")] = False,
) -> None:
    """Serve the labelling page until you stop it. Every answer is on disk before it counts as saved."""
    from aced.web import make_app, make_server  # takes long to load

    _check(host, name, tokens, no_token)
    opened = Project(project)
    user = (name or local_name()) if is_loopback(host) and not tokens else None
    listening = _listen(host, port)
    app = make_app(
        opened,
        tokens_required=not no_token,
        local_user=user if no_token else None,
        label_studio=label_studio,
    )
    address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}/"
    token = None if user is None or no_token else own_token(opened, user)
    link = address if token is None else enter(address, token)
    typer.echo(f"{link} (stop with Ctrl-C)")
    typer.echo(_who_may(user, token))
    if label_studio:
        typer.echo(_for_label_studio(address, no_token))
    server = make_server(app)
    page = stepping_stone(opened, user, link) if show and user and token else None
    if show:
        where = address if page is None else page.as_uri()
        threading.Thread(target=_show, args=(server, where), daemon=True).start()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # else nothing below would be run
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        pass  # uvicorn has stopped in order and raises the signal again
    finally:
        if page is not None:
            page.unlink(missing_ok=True)
        listening.close()
        opened.close()


def _check(host: str, name: str | None, tokens: bool, no_token: bool) -> None:
    here = is_loopback(host)
    if no_token and (tokens or not here):
        raise InvalidInput(
            "no_token",
            "is for this machine alone, without --tokens; others need a link from aced invite",
        )
    if name is not None and (tokens or not here):
        raise InvalidInput("as", "is for this machine alone; others need a link from aced invite")


def _who_may(user: str | None, token: str | None) -> str:
    if user is None:
        return (
            "Everybody needs a link from aced invite. Put a server with TLS in front of this one: "
            "without TLS, others can read the links on the way."
        )
    if token is None:
        return (
            f"Whoever can reach this address, other users of this machine too, is {user} here and leads."
        )
    return f"Whoever has this link is {user} here and leads. Others need a link from aced invite."


def _for_label_studio(address: str, no_token: bool) -> str:
    if no_token:
        return f"In Label Studio, connect the model {address}label-studio"
    with_token = address.replace("http://", "http://aced:TOKEN@")
    return (
        f"In Label Studio, connect the model {with_token}label-studio where TOKEN is the part after "
        "token= of the link that aced invite PROJECT NAME --lead prints."
    )


def _listen(host: str, port: int) -> socket.socket:
    from aced.web import Listening

    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = Listening(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen()
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
