// Entry of every page, in our application and in other layouts.
import "./alone.js";
import "./alternatives.js";
import "./boards.js";
import "./chrome.js";
import "./copying.js";
import "./focus.js";
import "./name_elements.js";
import "./plain_html.js";
import "./sorting.js";
import "./state.js";
import "./unbroken.js";
