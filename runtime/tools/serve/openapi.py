"""The OpenAPI description of the REST interface."""

from __future__ import annotations

from typing import Any

from runtime.api.version import version

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}


def nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def several(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def members(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """Return an object with these members and no others."""
    properties = {**required, **(optional or {})}
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def of(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


ANYTHING: Schema = {"type": "object"}
PLACE = {**dict.fromkeys(("line", "column", "end_line", "end_column"), nullable(WHOLE)), "excerpt": several(TEXT)}
ERROR = {"code": TEXT, "message": TEXT, "hint": nullable(TEXT), **PLACE}
COLUMN = members({"name": TEXT, "type": TEXT})
STATEMENT = {"name": TEXT, "deployment": TEXT, "kind": TEXT, "properties": several(COLUMN)}
DEPLOYMENT = {"id": TEXT, "module": nullable(TEXT), "statements": several(of("Statement"))}
SHOWN_ROW = members({"text": TEXT, "cells": several({"type": "array", "items": TEXT, "minItems": 2, "maxItems": 2})})

SCHEMAS: dict[str, Schema] = {
    "Error": {"description": "Lines and columns count from 1; the end is after the last character.", **members(ERROR)},
    "Refusal": members({"error": of("Error")}, {"item": WHOLE, "accepted": WHOLE}),
    "Statement": members(STATEMENT, {"tier": TEXT}),
    "Deployment": members(DEPLOYMENT, {"warnings": several(TEXT), "epl": TEXT}),
    "Module": members({"epl": TEXT}, {"name": TEXT, "replace": FLAG, "parameters": ANYTHING}),
    "Rows": members({"statement": nullable(TEXT), "columns": several(COLUMN), "truncated": FLAG, "rows": several(ANYTHING)}),
    "Step": {"oneOf": [members({"type": TEXT, "event": {}}), members({"time": {"type": ["integer", "string"]}})]},
    "Accepted": members({"accepted": WHOLE, "now": WHOLE, "faults": WHOLE, "warnings": several(TEXT)}),
    "Time": members({"now": WHOLE, "at": nullable(TEXT), "next": nullable(WHOLE), "clock": {"enum": ["external", "system"]}}),
    "Fault": members({"number": WHOLE, "statement": nullable(TEXT), "time": WHOLE, "at": nullable(TEXT), **ERROR}),
    "Job": members({"epl": TEXT, "script": TEXT}, {"start": TEXT}),
    "Run": members({
        "statements": several(members({**STATEMENT, "plan": TEXT})),
        "outputs": several(members({"time": WHOLE, "at": TEXT, "statements": several(members({
            "name": TEXT, "insert": several(SHOWN_ROW), "remove": several(SHOWN_ROW)}))})),
        "errors": several(members({"pane": {"enum": ["epl", "script", "start"]}, **ERROR})),
        "faults": several(members({"statement": nullable(TEXT), **ERROR})),
        "warnings": several(TEXT),
        "events": several(members({"time": WHOLE, "type": TEXT, "line": WHOLE})),
        "current": several(members({"name": TEXT, "rows": several(SHOWN_ROW)})),
        "lanes": several(members({
            "kind": {"enum": ["events", "window", "partials"]}, "title": TEXT, "rows": WHOLE, "hidden": WHOLE, "until": nullable(WHOLE),
            "bars": several(members({"row": WHOLE, "begins": WHOLE, "ends": nullable(WHOLE), "text": TEXT, "outcome": TEXT})),
            "marks": several(members({"row": WHOLE, "time": WHOLE, "text": TEXT, "outcome": TEXT})),
        })),
        "pictures": several(members({"statement": nullable(TEXT), "title": TEXT, "svg": TEXT})),
        "stopped": nullable(members({"reason": TEXT, "message": TEXT})),
        "end": nullable(members({"at": TEXT, **dict.fromkeys(("time", "events", "rows", "faults"), WHOLE), "seconds": {"type": "number"}})),
    }),
}  # fmt: skip

FAULTS = {
    "400": "the request cannot be read", "401": "no token", "403": "a page of another site asks", "404": "there is no such thing",
    "408": "the body does not come", "409": "what is deployed is in its way", "413": "the body is too large",
    "415": "another media type is expected", "421": "another host is asked for",
    "422": "refused, with position and hint", "503": "too many requests wait",
}  # fmt: skip


def content(schema: Schema, form: str = "application/json") -> Schema:
    return {"content": {form: {"schema": schema}}}


def operation(
    name: str, summary: str, status: str, answer: Schema | None, *, body: dict[str, Schema] | None = None,
    parameters: tuple[Schema, ...] = (), faults: str = "", others: Schema | None = None,
) -> Schema:
    """``body``: schemas by media type. ``faults``: the statuses of ``FAULTS`` beyond those that every request may get. ``others``: answers
    by status that are not as those of other routes."""
    statuses = {"401", "403", "421", "503", *faults.split(), *(("400", "408", "413", "415") if body else ())}
    described: Schema = {
        "operationId": name, "summary": summary,
        "responses": {
            status: {"description": summary, **(answer or {})},
            **{each: {"description": FAULTS[each], **content(of("Refusal"))} for each in sorted(statuses)},
            **(others or {}),
        },
    }  # fmt: skip
    if parameters:
        described["parameters"] = list(parameters)
    if body:
        described["requestBody"] = {"required": True, "content": {form: {"schema": schema} for form, schema in body.items()}}
    return described


def in_path(name: str, text: str) -> Schema:
    return {"name": name, "in": "path", "required": True, "description": text, "schema": {"type": "string", "minLength": 1}}


def in_query(name: str, text: str, schema: Schema = TEXT) -> Schema:
    return {"name": name, "in": "query", "description": text, "schema": schema}


def answer(name: str) -> Schema:
    return content(of(name))


OF_DEPLOYMENT = in_query("deployment", "of this deployment; else the newest statement of the name")
EVENTS_BODY = {"application/json": {"anyOf": [ANYTHING, several(ANYTHING)]}, "application/x-ndjson": TEXT}
MODULE_BODY = {"application/json": of("Module"), "text/x-epl": TEXT}

GENERAL: dict[str, Schema] = {
    "/health": {"get": operation("health", "the server runs", "200", content(members({"status": TEXT})))},
    "/ready": {"get": operation(
        "ready", "the runtime answers, the clock moves, the state is saved", "200", content(members({"status": TEXT})),
        others={"503": {"description": "not ready", **content(members({"status": TEXT, "reason": TEXT}))}},
    )},
    "/metrics": {"get": operation("metrics", "metrics for Prometheus", "200", content(TEXT, "text/plain"))},
}

RULES: dict[str, Schema] = {
    "/deployments": {
        "get": operation("deployments", "what is deployed", "200", content(members({"deployments": several(of("Deployment"))}))),
        "post": operation("deploy", "deploy a module, all of its statements or none", "201", answer("Deployment"), body=MODULE_BODY,
                          parameters=(in_query("name", "of the deployment, where the body is text"),
                                      in_query("replace", "true: in place of what has its names, where the body is text")),
                          faults="409 422"),
    },
    "/deployments/{id}": {
        "get": operation("deployment", "one deployment, with its text", "200", answer("Deployment"), faults="404",
                         parameters=(in_path("id", "its id"),)),
        "delete": operation("undeploy", "undeploy a module", "204", None, parameters=(in_path("id", "its id"),), faults="404 409"),
    },
    "/compile": {"post": operation("compile", "check a module", "200", content(members(
        {"accepted": FLAG, "statements": several(members({"name": TEXT, "kind": TEXT})), "errors": several(of("Error")),
         "warnings": several(TEXT)}
    )), body=MODULE_BODY)},
    "/query": {"post": operation("query", "run a fire-and-forget query", "200", answer("Rows"),
                                 body={"application/json": members({"epl": TEXT}, {"parameters": ANYTHING})}, faults="409 422")},
    "/statements": {"get": operation("statements", "all statements", "200", content(members({"statements": several(of("Statement"))})))},
    "/statements/{name}": {"get": operation("statement", "one statement", "200", answer("Statement"),
                                            parameters=(in_path("name", "its name"), OF_DEPLOYMENT), faults="404")},
    "/statements/{name}/rows": {"get": operation("rows", "a statement's current rows", "200", answer("Rows"),
                                                 parameters=(in_path("name", "its name"), OF_DEPLOYMENT), faults="404 422")},
    "/statements/{name}/plan": {"get": operation("plan", "how a statement runs", "200", content(members({"statement": TEXT, "plan": TEXT})),
                                                 parameters=(in_path("name", "its name"), OF_DEPLOYMENT), faults="404")},
    "/faults": {"get": operation("faults", "the last exceptions in expressions", "200",
                                 content(members({"count": WHOLE, "faults": several(of("Fault"))})))},
    "/events/{type}": {"post": operation("events", "send events of one type", "200", answer("Accepted"), body=EVENTS_BODY,
                                         parameters=(in_path("type", "the event type"),), faults="409 422")},
    "/events": {"post": operation("send_mixed_events", "send events of several types, and time between them", "200", answer("Accepted"),
                                  body={"application/json": {"anyOf": [of("Step"), several(of("Step"))]}, "application/x-ndjson": TEXT},
                                  faults="409 422")},
    "/time": {
        "get": operation("time", "engine time", "200", answer("Time")),
        "post": operation("advance", "move engine time", "200", answer("Time"), faults="409 422", body={"application/json": members(
            {}, {"to": {"type": ["integer", "string"]}, "by": WHOLE, "mode": {"enum": ["span", "jump"]}})}),
    },
    "/stream": {"get": operation("stream", "output of statements as Server-Sent Events: open, rows, dropped", "200",
                                 content(TEXT, "text/event-stream"), faults="404", parameters=(
        in_query("statement", "its name; may be repeated; none: all", several(TEXT)),
        {"name": "Last-Event-ID", "in": "header", "description": "go on after this event", "schema": TEXT}))},
}  # fmt: skip

PLAYGROUND: dict[str, Schema] = {
    "/playground": {"get": operation("playground", "what the page shows", "200", content(ANYTHING))},
    "/playground/run": {"post": operation("run", "run a module over a script, in a process of its own", "200", answer("Run"),
                                          body={"application/json": of("Job")})},
}  # fmt: skip


def describe_api(*, rules: bool = True, playground: bool = True, token: bool = True, base: str = "/api/v1") -> Schema:
    """Return the description of a server with or without these parts."""
    parts = {**(RULES if rules else {}), **(PLAYGROUND if playground else {})}
    components: Schema = {"schemas": SCHEMAS}
    document: Schema = {
        "openapi": "3.1.0",
        "info": {"title": "epl serve", "version": version(), "description": "Rules and events over HTTP."},
        "paths": {**GENERAL, **{f"{base}{path}": operations for path, operations in parts.items()}},
        "components": components,
    }
    if token:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
    return document


__all__ = ["describe_api"]
