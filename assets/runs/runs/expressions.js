// Columns of derived curves: the last, lowest and highest value of an expression over tags. They are columns of a tag named
// "=" and the expression (layouts/runs/runs/columns.py).

import { icon, make, words } from "../../kit/elements.js";
import { derivedTag, isDerived } from "../../kit/derived_tags.js";
import { openExpression } from "../../kit/expression_opener.js";
import { inLanguage, setLabel, translate } from "../../kit/i18n.js";
import { frameOf } from "../../kit/notes.js";
import { routesOf } from "../../kit/polling.js";

const KINDS = ["last", "min", "max"];

/** @param {string} id */
const tagOf = (id) => id.slice(id.indexOf(":") + 1);

/**
 * Whether a column is that of a derived curve.
 * @param {string} id
 */
export const isExpression = (id) => KINDS.includes(id.split(":", 1)[0]) && isDerived(tagOf(id));

/** The part of the menu of columns about expressions. */
export class Expressions {
  /** @param {RunTable.Columns} columns */
  constructor(columns) {
    this.columns = columns;
    /**
     * All that were columns since the page was opened, so that a box can be ticked again.
     * @type {Set<string>}
     */
    this.tags = new Set();
  }

  button() {
    const button = make("button", "ms-button ms-button-small ms-expression-add", [icon("plus"), words("expr.add")],
      { type: "button", "data-act": "expr-add" });
    setLabel(button, "title", "expr.add.column");
    button.addEventListener("click", () => this.open());
    return button;
  }

  open() {
    const { columns } = this;
    const { body } = columns.view;
    openExpression({
      host: body,
      routes: routesOf(frameOf(body)),
      title: "expr.new.column",
      tags: () => columns.choices.tags.map(([tag]) => tag),
      missing: ({ missing }) => missing,
      take: (text) => {
        const id = `last:${derivedTag(text)}`;
        if (!columns.order().includes(id)) columns.toggle(id);
      },
    });
  }

  /**
   * The lines of the menu that name it by a text.
   * @param {Set<string>} shown
   * @param {string} text
   */
  lines(shown, text) {
    for (const id of shown) if (isExpression(id)) this.tags.add(tagOf(id));
    const { columns } = this;
    /** @param {string} id */
    const box = (id) => columns.box(id, shown, translate(`runs.column_${id.split(":", 1)[0]}`), columns.nameOf(id));
    return [...this.tags].filter((tag) => tag.toLowerCase().includes(text)).map((tag) => columns.line([
      make("span", "ms-cut ms-name ms-runs-tag", tag, { title: tag }), ...KINDS.map((kind) => box(`${kind}:${tag}`)),
    ]));
  }

  /** What is wrong with the expression of a column, as {name, text}; null if all are valid. */
  wrong() {
    const { columns } = this;
    const id = columns.custom().find((one) => columns.view.values.wrong[one]);
    return id ? { name: tagOf(id), text: inLanguage(columns.view.values.wrong[id]) } : null;
  }
}
