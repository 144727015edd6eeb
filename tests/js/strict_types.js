// Checks types strictly: no error in the folders that are listed as strict, and no more than recorded in all others together;
// and no function takes a page whose record is not declared, so that each field of a page is known by its type.
// `make scripts` runs it. After errors were mended: `node tests/js/strict_types.js --renew`.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const RECORD = join(ROOT, "tests", "js", "strict_types.json");
const COMPILER = join(ROOT, "node_modules", "typescript", "bin", "tsc");
/** Work in progress may lie this far below the record before it must be renewed. */
export const SLACK = 25;
const UNDECLARED = /error TS70\d\d: (?:Parameter|Variable) 'page' implicitly has an 'any' type/;

/**
 * @typedef {object} Record
 * @property {string[]} strict folders without any error; a folder below one is listed by itself
 * @property {number} errors most errors in all other folders together
 */

/**
 * @param {string} path
 * @param {string} line
 * @returns {[string, string]}
 */
const pair = (path, line) => [path, line];

/**
 * The errors in what the compiler has printed: [path, line as printed].
 * @param {string} printed
 * @returns {[string, string][]}
 */
export function errorsIn(printed) {
  return printed.split("\n").flatMap((line) => {
    const match = /^(.+?)\(\d+,\d+\): error TS\d+: /.exec(line);
    return match ? [pair(match[1], line)] : [];
  });
}

/**
 * What is wrong with these errors by the record, and the number outside of strict folders.
 * @param {[string, string][]} errors
 * @param {Record} record
 * @returns {{ complaints: string[], count: number }}
 */
export function judged(errors, record) {
  const strict = errors.filter(([path]) => record.strict.includes(dirname(path)));
  const count = errors.length - strict.length;
  const complaints = strict.map(([, line]) => line);
  complaints.push(...errors.filter((error) => !strict.includes(error) && UNDECLARED.test(error[1])).map(([, line]) => line));
  if (count > record.errors) {
    complaints.push(`${count} strict errors outside of strict folders; at most ${record.errors} are allowed. `
      + "Annotate what is new: `node node_modules/typescript/bin/tsc --strict` lists them.");
  } else if (count < record.errors - SLACK) {
    complaints.push(`${count} strict errors are left of ${record.errors} recorded. `
      + "Keep that: node tests/js/strict_types.js --renew");
  }
  return { complaints, count };
}

/**
 * Number of `any` in the types of a script (in its comments) or of a file of declarations.
 * @param {string} path
 * @param {string} text
 */
export function explicitAny(path, text) {
  const types = path.endsWith(".d.ts") ? [text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "")]
    : (text.match(/\/\*\*[\s\S]*?\*\//g) || []).filter((comment) => comment.includes("@"));
  return types.reduce((sum, one) => sum + (one.match(/(?<![\w.-])any(?=\s*[\]})>,|;[&=)]|$)/gm) || []).length, 0);
}

function main() {
  const ran = spawnSync(process.execPath, [COMPILER, "--strict", "--pretty", "false"], { cwd: ROOT, encoding: "utf8" });
  if (ran.error) throw ran.error;
  const errors = errorsIn(ran.stdout);
  if (ran.status && !errors.length) throw new Error(`The type checker failed: ${ran.stdout}${ran.stderr}`);
  /** @type {Record} */
  const record = JSON.parse(readFileSync(RECORD, "utf8"));
  const { complaints, count } = judged(errors, record);
  if (process.argv.includes("--renew") && count < record.errors) {
    writeFileSync(RECORD, `${JSON.stringify({ ...record, errors: count }, null, 2)}\n`);
    console.log(`The record falls from ${record.errors} to ${count} strict errors.`);
    complaints.pop();
  }
  const scripts = readdirSync(join(ROOT, "assets"), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.(js|d\.ts)$/.test(path) && !path.startsWith("vendor"));
  const any = scripts.reduce((sum, path) => sum + explicitAny(path, readFileSync(join(ROOT, "assets", path), "utf8")), 0);
  console.log(`Types: ${count} strict errors of at most ${record.errors}; any: ${any}; strict: ${record.strict.join(" ")}`);
  for (const line of complaints) console.error(line);
  process.exitCode = complaints.length ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
