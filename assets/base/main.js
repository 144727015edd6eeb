// Entry of every page, in our application and in other layouts.
import "./chrome.js";
import "./plain_html.js";
import "./state.js";
