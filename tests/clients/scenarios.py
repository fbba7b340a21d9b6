"""The scenarios of the conformance suite: which are run, against which server, and which not."""

from typing import Final

VERSIONS: Final = ("2025-06-18", "2025-11-25", "2026-07-28")
"""The versions of the protocol whose scenarios are run."""

REAL: Final = frozenset(
    {
        "server-initialize",
        "server-session-lifecycle",
        "ping",
        "tools-list",
        "resources-list",
        "prompts-list",
        "sep-2164-resource-not-found",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
        "caching",
        "http-header-validation",
    }
)
"""Those that need nothing of a server but what it has: they are run against `mcp-lucene`."""

WITH_FIXTURES: Final = frozenset(
    {
        "server-stateless",
        "completion-complete",
        "tools-call-simple-text",
        "tools-call-image",
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-mixed-content",
        "tools-call-error",
        "tools-call-with-progress",
        "tools-call-sampling",
        "tools-call-elicitation",
        "prompts-get-simple",
        "prompts-get-with-args",
        "prompts-get-embedded-resource",
        "prompts-get-with-image",
        "input-required-result-basic-elicitation",
        "input-required-result-non-tool-request",
        "input-required-result-result-type",
        "input-required-result-missing-input-response",
        "input-required-result-ignore-extra-params",
        "input-required-result-validate-input",
        "input-required-result-unsupported-methods",
    }
)
"""Those that ask for tools and prompts of the suite: run against `conformance_server`."""

LEFT_OUT: Final = {
    "logging-set-level": "the server sends its clients no log, and announces none",
    "tools-call-with-logging": "the same",
    "json-schema-2020-12": "it asks for a tool with a schema written by hand; those of the server "
    "are made from the functions that answer",
    "elicitation-sep1034-defaults": "without `--admin` the server asks its users "
    "nothing; this is the SDK's alone",
    "elicitation-sep1330-enums": "the same",
    "server-sse-polling": "it asks for a server that ends the stream of a call that goes on; this "
    "one holds it open until the answer",
    "resources-read-text": "it asks for a resource whose URI is not of the server's forms",
    "resources-read-binary": "the same",
    "resources-templates-read": "the same",
    "resources-subscribe": "the same",
    "resources-unsubscribe": "the same",
    "http-custom-header-server-validation": "no argument of a tool is sent as a header",
    "input-required-result-": "the other scenarios of this name try the SDK's keeping of what a "
    "tool asked; without `--admin` no tool of the server asks anything",
    "tasks-": "an extension that the server does not announce",
    "sep-2640-skills-": "the same",
}
"""Those that prove nothing about this server, by name or by how it begins, and why."""


def reason_for_leaving_out(scenario: str) -> str | None:
    """Why a scenario is not run; None if it is."""
    if scenario in REAL | WITH_FIXTURES:
        return None
    return next((why for name, why in LEFT_OUT.items() if scenario.startswith(name)), None)
