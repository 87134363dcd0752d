"""Tools around the language: syntax colouring, completion, the shell, the language server (docs/tools.md); the server (docs/serve.md)."""
