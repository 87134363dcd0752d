"""What a runtime's listeners get, as plain data."""


def listen(rt, log):
    """``log`` gets (statement, insert stream, remove stream) of every call from now on; the runtime."""
    for deployment in rt.deployments.values():
        for statement in deployment:
            statement.add_listener(
                lambda new, old, statement, _: log.append((statement.name, [r.to_dict() for r in new], [r.to_dict() for r in old]))
            )
    return rt
