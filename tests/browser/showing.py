"""Show an address in a tab, without a page load where the tab has the application open.

A page load takes 1 to 2 s of processor time, most of it for scripts that every page has. Going to an address as a link of the
application does takes a third. `page.goto` loads: use it where a test is about loading, or where a server replaces another.
"""

from __future__ import annotations

from playwright.sync_api import Page

# A page that does not exist comes between, so that the wanted one starts without state of the one before, as after a load.
LEAVE = """async () => {
    const root = document.documentElement;
    if (!document.querySelector('.ms-menu') || !window.mindscope?.prefs?.ours) return false;
    if (root.hasAttribute('data-embed') || root.hasAttribute('data-alone')) return false;
    // A window of another width may begin with a folded menu.
    if (root.hasAttribute('data-folded') !== window.mindscope.prefs.current().folded) return false;
    const left = () => !document.querySelector('.ms-frame, .ms-menu-link[aria-current]');
    window.history.pushState({}, '', '/nowhere');
    window.dispatchEvent(new CustomEvent('_dashprivate_pushstate'));
    for (let frames = 0; !left(); frames++) {
        if (frames > 600) return false;
        await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    return true;
}"""
SHOW = """(url) => {
    window.history.replaceState({}, '', url);
    window.dispatchEvent(new CustomEvent('_dashprivate_pushstate'));
}"""
# What outlives a page: preferences, what lies over all pages, how runs are searched.
UNCHANGED = """() => {
    const { lang, theme } = window.mindscope.prefs.current();
    const root = document.documentElement;
    const over = document.querySelector('dialog[open], :popover-open, .ms-menu-rest[aria-expanded=true]');
    const kept = window.localStorage.length || window.sessionStorage.length;
    const pressed = document.querySelector('.ms-panel [aria-pressed=true]');
    const search = document.querySelector('.ms-panel-search input')?.value;
    return !kept && !pressed && !search && !over && !document.fullscreenElement &&
        root.lang.startsWith(lang) && root.dataset.mantineColorScheme === theme && !root.hasAttribute('data-folded');
}"""


def show(page: Page, url: str) -> None:
    """Show an address: as a link within the application does if it is open in the tab, else by loading it."""
    inside = page.evaluate("url => new URL(url).origin === location.origin && !new URL(url).searchParams.has('embed')", url)
    if inside and page.evaluate(LEAVE):
        page.evaluate(SHOW, url)
    else:
        page.goto(url)


def leave(page: Page) -> bool:
    """Leave the page on screen; return whether the application is as it was before a first visit."""
    return bool(page.evaluate(f"async () => ({UNCHANGED})() && ({LEAVE})()"))
