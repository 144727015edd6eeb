"""The pieces every page is made of: props in, component out. Their looks are in assets/mindscope.css."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import dcc, html

from layouts.i18n import attributes, t

Children = Any


def icon(name: str, class_name: str = "") -> html.Span:
    """A 16 px line icon of assets/icons.css in the colour of the text around it; silent to screen readers."""
    return html.Span(className=f"ms-icon ms-icon-{name} {class_name}".rstrip(), **{"aria-hidden": "true"})


def icon_button(name: str, label: str, *, class_name: str = "", **props: Any) -> html.Button:
    """A button of one icon. label is the text key of its title and accessible name."""
    return html.Button(
        icon(name), type="button", className=f"ms-button ms-button-icon {class_name}".rstrip(),
        **attributes(title=label, aria_label=label), **props,
    )


def button(label: str, *, icon_name: str = "", class_name: str = "", **props: Any) -> html.Button:
    """A button with a text key as its label, and an icon before it where there is one."""
    children = [icon(icon_name)] if icon_name else []
    return html.Button([*children, t(label)], type="button", className=f"ms-button {class_name}".rstrip(), **props)


def toolbar(children: Sequence[Any], *, label: str, class_name: str = "") -> html.Div:
    """A row of controls. label is the text key of its accessible name."""
    return html.Div(
        list(children), className=f"ms-toolbar {class_name}".rstrip(), role="toolbar", **attributes(aria_label=label)
    )


def card(
    title: Children, body: Children, *, tools: Sequence[Any] = (), badges: Sequence[Any] = (), class_name: str = "",
    **props: Any,
) -> html.Section:
    """A card: one 32 px line of title, badges and tools (which show on hover and focus), and the body below it."""
    head = html.Header(
        [
            html.H3(title, className="ms-card-title"),
            html.Span(list(badges), className="ms-card-badges"),
            html.Span(list(tools), className="ms-card-tools"),
        ],
        className="ms-card-head",
    )
    return html.Section(
        [head, html.Div(body, className="ms-card-body")], className=f"ms-card {class_name}".rstrip(), tabIndex=-1, **props
    )


def empty_state(sentence: str, *, code: str = "", values: Mapping[str, object] | None = None, hint: str = "") -> html.Div:
    """What stands where there is no data: one sentence that says what is missing, and the lines that record it."""
    children: list[Any] = [html.P(t(sentence, **(values or {})), className="ms-empty-sentence")]
    if hint:
        children.append(html.P(t(hint), className="ms-empty-hint"))
    if code:
        copy = icon_button("copy", "shell.copy_code", class_name="ms-code-copy", **{"data-action": "copy-code"})
        children.append(html.Div([html.Pre(html.Code(code), className="ms-code"), copy], className="ms-code-box"))
    return html.Div(children, className="ms-empty")


def field(label: str, control: Children, class_name: str = "") -> html.Label:
    """A control with its name beside it; label is a text key."""
    return html.Label([html.Span(t(label), className="ms-field-name"), control], className=f"ms-field {class_name}".rstrip())


def text_input(component_id: Any, label: str, *, class_name: str = "", **props: Any) -> html.Div:
    """A dcc.Input whose placeholder and accessible name are a text key; class ms-filter makes it the one that `/` goes to."""
    names = attributes(placeholder=label, aria_label=label)
    switched = {name: text for name, text in names.items() if name.startswith("data-")}
    return html.Div(
        dcc.Input(id=component_id, placeholder=names["placeholder"], autoComplete="off", spellCheck="false", **props),
        className=f"ms-inputbox {class_name}".rstrip(),
        **switched,
    )
