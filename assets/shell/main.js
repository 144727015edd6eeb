// Entry of our own application: what stands around its pages.
import "./compiled_charts.js";
import "./missing_charts.js";
import "./shell.js";
import "./views.js";
