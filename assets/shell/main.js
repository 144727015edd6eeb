// Entry of our own application: what stands around its pages.
import "./shell.js";
import "./views.js";
