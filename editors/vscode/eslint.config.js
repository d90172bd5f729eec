"use strict";

const js = require("@eslint/js");

module.exports = [
  js.configs.recommended,
  {
    files: ["*.js"],
    languageOptions: {
      ecmaVersion: 2022,
      sourceType: "commonjs",
      globals: { require: "readonly", module: "writable" },
    },
    rules: { eqeqeq: "error", "prefer-const": "error", "no-var": "error" },
  },
];
