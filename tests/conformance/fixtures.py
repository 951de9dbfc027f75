"""The tools that the conformance suite calls, as projects of published Python tools."""

import base64
import json

#: A PNG of one red pixel.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
#: The header of a WAV file without samples.
SOUND = base64.b64encode(b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80>\0\0\2\0\x10\0data\0\0\0\0").decode()

SIGNATURE = "run_tool(tool_input, metadata, config, conversation, send_status_event, user_variables)"

#: The body of each tool.
BODIES = {
    "test_simple_text": 'return "This is a simple text response for testing."',
    "test_image_content": f'content.add_image(base64.b64decode("{PIXEL}"), "image/png")\nreturn ""',
    "test_audio_content": f'content.add_audio(base64.b64decode("{SOUND}"), "audio/wav")\nreturn ""',
    "test_embedded_resource": (
        'content.add_resource("test://embedded-resource", "This is an embedded resource content.", "text/plain")\nreturn ""'
    ),
    "test_multiple_content_types": (
        'content.add_text("Multiple content types test:")\n'
        f'content.add_image(base64.b64decode("{PIXEL}"), "image/png")\n'
        'content.add_resource("test://mixed-content-resource", "{\\"test\\": \\"data\\", \\"value\\": 123}", "application/json")\n'
        'return ""'
    ),
    "test_tool_with_logging": (
        'for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):\n'
        "    log.info(message)\n"
        "    await asyncio.sleep(0.05)\n"
        'return "Tool with logging executed successfully"'
    ),
    "test_logging_tool": 'log.info("a message that nobody asked for")\nreturn "ok"',
    "test_tool_with_progress": (
        "for progress in (0, 50, 100):\n"
        "    await send_status_event(f'Completed step {progress} of 100', progress=progress, total=100)\n"
        "    await asyncio.sleep(0.05)\n"
        'return "done"'
    ),
    "test_error_handling": 'raise RuntimeError("This tool intentionally returns an error for testing")',
    "json_schema_2020_12_tool": 'return "JSON Schema 2020-12 tool called"',
    "test_custom_headers": 'return "ok"',
}

#: The input schemas of tools that take arguments.
SCHEMAS = {
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
    "test_custom_headers": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "query": {"type": "string"}},
        "additionalProperties": False,
    },
}
EMPTY = {"type": "object", "properties": {}, "additionalProperties": False}


def files(name):
    """Returns the files of a tool's project by their names."""
    body = "\n".join(f"    {line}" for line in BODIES[name].split("\n"))
    source = f"import asyncio\nimport base64\n\nfrom amigo_tool_scaffold import content, log\n\n\nasync def {SIGNATURE}:\n{body}\n"
    manifest = f'[project]\nname = "{name}"\n\n[tool.lathe]\ninput_schema = "input.json"\n'
    return {"tool.py": source, "pyproject.toml": manifest, "input.json": json.dumps(SCHEMAS.get(name, EMPTY))}
