"""The whole dashboard below /training of a Flask application.   python -m examples.host_flask DIR [PORT]"""

import sys

from flask import Flask
from waitress import serve

from app import mount

host = Flask(__name__)


@host.get("/")
def home() -> str:
    return '<h1>Our lab</h1><p><a href="/training/">Training runs</a></p>'


if __name__ == "__main__":
    mount(host, "/training", sys.argv[1])
    serve(host, host="127.0.0.1", threads=8, port=int(sys.argv[2]) if len(sys.argv) > 2 else 8050)
