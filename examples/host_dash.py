"""The whole dashboard below /training of a Dash application.   python -m examples.host_dash DIR [PORT]"""

import sys

from dash import Dash, html
from waitress import serve

from app import mount

host = Dash(__name__)
host.layout = html.Div([html.H1("Our lab"), html.A("Training runs", href="/training/")])

if __name__ == "__main__":
    mount(host, "/training", sys.argv[1])
    serve(host.server, host="127.0.0.1", threads=8, port=int(sys.argv[2]) if len(sys.argv) > 2 else 8050)
