"""The whole dashboard below /training of an ASGI application.   python -m examples.host_asgi DIR [PORT]

Wants uvicorn, and a2wsgi (`pip install mindscope[asgi]`). With FastAPI or Starlette:
`host.mount("/training", WSGIMiddleware(create_app(DIR, public_prefix="/training/").server))`.
"""

import sys

import uvicorn
from a2wsgi import WSGIMiddleware

from app import create_app


def build(directory: str):
    training = WSGIMiddleware(create_app(directory, prefix="/training/").server)

    async def host(scope, receive, send):
        if scope["type"] == "http" and scope["path"].startswith("/training/"):
            await training(scope, receive, send)
        elif scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
            await send({"type": "http.response.body", "body": b'<h1>Our lab</h1><a href="/training/">Training runs</a>'})

    return host


if __name__ == "__main__":
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 8050
    uvicorn.run(build(sys.argv[1]), host="127.0.0.1", port=port, lifespan="off", log_level="warning")
