"""The grammar of EPL in pyparsing: text → syntax tree. Use it through `epl.parse`."""
