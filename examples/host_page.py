"""The scalars page twice in another Dash layout.   python -m examples.host_page DIR [PORT]"""

import sys

from dash import Dash, Input, Output, dcc, html
from waitress import serve

from app import pages


def build(directory: str) -> Dash:
    host = Dash(__name__)
    first, second = pages.Scalars(directory, id="s1"), pages.Scalars(directory, id="s2")
    for page in (first, second):
        page.register(host)
    host.layout = html.Div(
        [
            html.H1("Our lab"),
            dcc.Input(id="name", value="you"),
            html.P(id="hello"),
            html.Div(first.layout(), style={"height": "700px"}),
            html.Div(second.layout(), style={"height": "700px"}),
        ]
    )

    @host.callback(Output("hello", "children"), Input("name", "value"))
    def greet(name: str) -> str:
        return f"Hello, {name}"

    return host


if __name__ == "__main__":
    serve(build(sys.argv[1]).server, host="127.0.0.1", threads=8, port=int(sys.argv[2]) if len(sys.argv) > 2 else 8050)
