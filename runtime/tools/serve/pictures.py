"""Pictures of a deployed module for the playground: an SVG text each, which the page shows as an image, where no script in it runs."""

from __future__ import annotations

from collections.abc import Iterator

from runtime.api.deployment import Deployment


def pictures_of(deployment: Deployment) -> Iterator[dict[str, str]]:
    """Yield ``{"title": …, "svg": …}``. None are drawn yet: the page itself draws the timeline of a run."""
    yield from ()


__all__ = ["pictures_of"]
