// What every page of ours has, in our application and in somebody else's layout.
import "./chrome.js";
import "./state.js";
