"""Pictures of what happened: recordings of statements along time (docs/pictures.md)."""
