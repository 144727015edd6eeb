// How the scripts in assets/ and their tests are checked; the stylistic rules are the formatter: `npm run fix`.
import js from "@eslint/js";
import stylistic from "@stylistic/eslint-plugin";
import globals from "globals";

export default [
  { ignores: ["assets/vendor/", "node_modules/", ".venv/", "app/", "docs/", "dist/", "build/"] },
  js.configs.recommended,
  stylistic.configs.customize({
    indent: 2, quotes: "double", semi: true, braceStyle: "1tbs", arrowParens: true, commaDangle: "always-multiline",
  }),
  {
    languageOptions: { ecmaVersion: 2023, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      curly: ["error", "multi-line"],
      eqeqeq: "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", caughtErrors: "none" }],
      "no-var": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      "@stylistic/max-len": ["error", { code: 128, ignoreUrls: false }],
      "@stylistic/max-statements-per-line": "off",
      "@stylistic/multiline-ternary": "off",
      "@stylistic/no-multi-spaces": ["error", { ignoreEOLComments: true }],
      "@stylistic/no-mixed-operators": "off",
      "@stylistic/operator-linebreak": ["error", "before"],
      "@stylistic/quotes": ["error", "double", { avoidEscape: true, allowTemplateLiterals: "always" }],
      "@stylistic/quote-props": ["error", "as-needed"],
    },
  },
  { files: ["assets/**"], languageOptions: { globals: globals.browser } },
  { files: ["assets/early/**"], languageOptions: { sourceType: "script" } },
  { files: ["tests/js/**", "eslint.config.js"], languageOptions: { globals: globals.node } },
  { files: ["tests/browser/*.cjs"], languageOptions: { globals: globals.node, sourceType: "commonjs" } },
];
