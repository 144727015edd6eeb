// What our own application has around its pages.
import "./shell.js";
import "./views.js";
