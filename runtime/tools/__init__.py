"""Tools around the language: colours, completion, the shell, the language server, tests of rules, the server (docs/tools.md)."""
