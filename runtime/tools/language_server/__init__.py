"""The language server ``epl lsp``: what it knows of a text (`document`), and how editors ask for it (`server`)."""
