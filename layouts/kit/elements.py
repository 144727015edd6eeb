"""Basic components of every page: props in, component out. Styles are in assets/kit/elements.css."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import dcc, html

from layouts.kit.i18n import attributes, define_texts, t

define_texts({"elements.scrolled": ("Table, arrow keys scroll it", "表格，可用方向键滚动")})

Children = Any


def icon(name: str, class_name: str = "") -> html.Span:
    """A 16 px line icon of assets/kit/icons.css in the colour of the surrounding text, hidden from screen readers."""
    return html.Span(className=f"ms-icon ms-icon-{name} {class_name}".rstrip(), **{"aria-hidden": "true"})


def icon_button(name: str, label: str, *, class_name: str = "", **props: Any) -> html.Button:
    """A button with only an icon. label is the text key of its title and accessible name."""
    return html.Button(
        icon(name), type="button", className=f"ms-button ms-button-icon {class_name}".rstrip(),
        **attributes(title=label, aria_label=label), **props,
    )


def coloured(name: str, colour: str) -> html.Span:
    """The name of a run after a dot of its colour."""
    dot = html.Span(className="ms-dot", style={"background": colour})
    return html.Span([dot, html.Span(name, className="ms-cut ms-name")], className="ms-coloured", title=name)


def button(label: str, *, icon_name: str = "", class_name: str = "", **props: Any) -> html.Button:
    """A button with a label and optionally an icon in front of it; label is a text key."""
    children = [icon(icon_name)] if icon_name else []
    return html.Button([*children, t(label)], type="button", className=f"ms-button {class_name}".rstrip(), **props)


def scrolled(table: Children, class_name: str, **props: Any) -> html.Div:
    """A table, or a chart, that may be larger than its place, which then scrolls by keys, too."""
    named = attributes(aria_label="elements.scrolled")
    return html.Div(table, className=class_name, tabIndex=0, role="group", **named, **props)


def toolbar(children: Sequence[Any], *, label: str, class_name: str = "") -> html.Div:
    """A row of controls. label is the text key of its accessible name."""
    return html.Div(
        list(children), className=f"ms-toolbar {class_name}".rstrip(), role="toolbar", **attributes(aria_label=label)
    )


def card(
    title: Children, body: Children, *, tools: Sequence[Any] = (), badges: Sequence[Any] = (), class_name: str = "",
    **props: Any,
) -> html.Section:
    """A card: a 32 px head with title, badges and tools (shown on hover and focus), and the body below it."""
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
    """An empty state: one sentence that says what is missing, optionally a hint and the lines of code that record it."""
    children: list[Any] = [html.P(t(sentence, **(values or {})), className="ms-empty-sentence")]
    if hint:
        children.append(html.P(t(hint), className="ms-empty-hint"))
    if code:
        copy = icon_button("copy", "shell.copy_code", class_name="ms-code-copy", **{"data-action": "copy-code"})
        children.append(html.Div([html.Pre(html.Code(code), className="ms-code"), copy], className="ms-code-box"))
    return html.Div(children, className="ms-empty")


def damaged_state(sentence: str) -> html.Div:
    """The empty state of data that damage may have taken; assets/kit/damage.js lists the problems in it."""
    return html.Div(
        [
            html.P(t(sentence), className="ms-empty-sentence"),
            html.P(t("damage.hint"), className="ms-empty-hint"),
            html.Ul(className="ms-empty-damage"),
            html.P(button("damage.all", **{"data-action": "health"}), className="ms-empty-act"),
        ],
        className="ms-empty",
    )


def field(label: str, control: Children, class_name: str = "") -> html.Label:
    """A control with its name next to it; label is a text key."""
    return html.Label([html.Span(t(label), className="ms-field-name"), control], className=f"ms-field {class_name}".rstrip())


def text_input(component_id: Any, label: str, *, class_name: str = "", **props: Any) -> html.Div:
    """A dcc.Input; label is the text key of its placeholder and accessible name. Class ms-filter: the `/` key focuses it."""
    names = attributes(placeholder=label, aria_label=label)
    switched = {name: text for name, text in names.items() if name.startswith("data-")}
    return html.Div(
        dcc.Input(id=component_id, placeholder=names["placeholder"], autoComplete="off", spellCheck="false", **props),
        className=f"ms-inputbox {class_name}".rstrip(),
        **switched,
    )
