"""The tools that the conformance suite calls, as projects of published Python tools, and the items of the Library that it reads."""

import base64
import json

#: A PNG of one red pixel.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
#: The header of a WAV file without samples.
SOUND = base64.b64encode(b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80>\0\0\2\0\x10\0data\0\0\0\0").decode()

IMPORTS = """import asyncio
import base64

from amigo_tool_scaffold import content, log
from amigo_tool_scaffold.interaction import Form, InputUnavailable, Roots, Sampling, request_input, request_inputs
"""
SIGNATURE = "run_tool(tool_input, metadata, config, conversation, send_status_event, user_variables)"

#: Questions of several tools.
NAME = 'Form("What is your name?", {"name": {"type": "string"}}, required=["name"])'
CONFIRM = 'Form("Please confirm", {"ok": {"type": "boolean"}}, required=["ok"])'
#: The body of tools that greet whom they ask for.
ASK_AND_GREET = f'answer = await request_input("user_name", {NAME})\nreturn f"Hello, {{answer.content[\'name\']}}!"'

#: The tool whose call changes the tools of the gateway, and the tool that is there or not. The proxy deploys the change.
CHANGING, CHANGED = "test_trigger_tool_change", "test_changed_tool"
#: The tool whose call changes the prompts. The proxy writes the change.
CHANGING_PROMPTS = "test_trigger_prompt_change"

PROMPTS = [
    {"name": "test_simple_prompt", "description": "Without arguments.", "content": "This is a simple prompt for testing."},
    {
        "name": "test_prompt_with_arguments",
        "description": "With two arguments.",
        "content": "Prompt with arguments: arg1='{{arg1}}', arg2='{{arg2}}'",
        "variables": [
            {"name": "arg1", "description": "First test argument", "required": True},
            {"name": "arg2", "description": "Second test argument", "required": True},
        ],
    },
]
ARTIFACT = {"title": "Report", "artifact_type": "report", "content": "# Report", "content_type": "text/markdown", "summary": "A text."}

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
    "test_elicitation": (
        'fields = {"username": {"type": "string", "description": "User\'s response"},'
        ' "email": {"type": "string", "description": "User\'s email address"}}\n'
        'answer = await request_input("user", Form(tool_input["message"], fields, required=["username", "email"]))\n'
        'return f"User response: action={answer.action}, content={answer.content}"'
    ),
    "test_sampling": (
        'answer = await request_input("model", Sampling(tool_input["prompt"], 100))\nreturn f"LLM response: {answer.text}"'
    ),
    "test_elicitation_sep1034_defaults": (
        "fields = {\n"
        '    "name": {"type": "string", "default": "John Doe"},\n'
        '    "age": {"type": "integer", "default": 30},\n'
        '    "score": {"type": "number", "default": 95.5},\n'
        '    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},\n'
        '    "verified": {"type": "boolean", "default": True},\n'
        "}\n"
        'answer = await request_input("profile", Form("Please check your profile.", fields))\n'
        'return f"Elicitation completed: action={answer.action}, content={answer.content}"'
    ),
    "test_elicitation_sep1330_enums": (
        'titled = [{"const": f"value{n}", "title": f"{word} Option"} for n, word in enumerate(("First", "Second", "Third"), 1)]\n'
        'plain = ["option1", "option2", "option3"]\n'
        "fields = {\n"
        '    "untitledSingle": {"type": "string", "enum": plain},\n'
        '    "titledSingle": {"type": "string", "oneOf": titled},\n'
        '    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],'
        ' "enumNames": ["Option One", "Option Two", "Option Three"]},\n'
        '    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},\n'
        '    "titledMulti": {"type": "array", "items": {"anyOf": titled}},\n'
        "}\n"
        'answer = await request_input("choices", Form("Please choose.", fields))\n'
        'return f"Elicitation completed: action={answer.action}, content={answer.content}"'
    ),
    "test_input_required_result_elicitation": ASK_AND_GREET,
    "test_input_required_result_sampling": (
        'answer = await request_input("capital_question", Sampling("What is the capital of France?", 100))\nreturn answer.text'
    ),
    "test_input_required_result_list_roots": (
        'roots = await request_input("client_roots", Roots())\nreturn ", ".join(root.uri for root in roots)'
    ),
    "test_input_required_result_request_state": f'await request_input("confirm", {CONFIRM})\nreturn "state-ok"',
    "test_input_required_result_tampered_state": f'await request_input("confirm", {CONFIRM})\nreturn "ok"',
    "test_input_required_result_multiple_inputs": (
        "answers = await request_inputs({\n"
        f'    "user_name": {NAME},\n'
        '    "greeting": Sampling("Generate a greeting", 50),\n'
        '    "client_roots": Roots(),\n'
        "})\n"
        'return f"{answers[\'greeting\'].text} {answers[\'user_name\'].content[\'name\']} at {answers[\'client_roots\'][0].uri}"'
    ),
    "test_input_required_result_multi_round": (
        'name = await request_input("step1", Form("Step 1: What is your name?", {"name": {"type": "string"}}, ["name"]))\n'
        'color = await request_input("step2", Form("Step 2: What is your favorite color?", {"color": {"type": "string"}}, ["color"]))\n'
        'return f"{name.content[\'name\']} likes {color.content[\'color\']}"'
    ),
    "test_input_required_result_capabilities": (
        "try:\n"
        f'    answer = await request_input("user_name", {NAME})\n'
        "except InputUnavailable:\n"
        '    answer = await request_input("name", Sampling("Invent a name.", 20))\n'
        'return f"{answer}"'
    ),
    "test_missing_capability": 'return (await request_input("question", Sampling("What is needed?", 20))).text',
    "test_streaming_elicitation": (
        f'await send_status_event("asking")\nawait request_input("user_name", {NAME})\nreturn "done"'
    ),
    "greet": 'return f"Hello, {tool_input[\'name\']}!"',
    "slow_compute": (
        'await asyncio.sleep(tool_input["seconds"])\nreturn f"{tool_input[\'label\']}: computed for {tool_input[\'seconds\']} s"'
    ),
    "failing_job": 'await asyncio.sleep(1)\nraise RuntimeError("This job fails on purpose")',
    # The suite does not declare roots to the tasks.
    "protocol_error_job": 'await request_input("directories", Roots())\nreturn "ok"',
    "confirm_delete": (
        'filename, fields = tool_input["filename"], {"confirm": {"type": "boolean"}}\n'
        'answer = await request_input("confirm", Form(f"Delete {filename}?", fields, required=["confirm"]))\n'
        'return f"{filename} is {\'deleted\' if answer.content.get(\'confirm\') else \'kept\'}"'
    ),
    "multi_input": (
        'fields = {"name": {"type": "string"}, "confirm": {"type": "boolean"}}\n'
        "answers = await request_inputs({\n"
        '    key: Form(f"Please fill in the {key} form.", fields, required=["name", "confirm"]) for key in ("first", "second")\n'
        "})\n"
        'return " and ".join(answer.content["name"] for answer in answers.values())'
    ),
    "test_tool_with_task": ASK_AND_GREET,
    "test_static_text": 'return "This is the content of the static text resource."',
    "test_static_binary": f'content.add_image(base64.b64decode("{PIXEL}"), "image/png")\nreturn ""',
    "test_template": 'id = tool_input["id"]\nreturn {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}',
    "test_watched_resource": 'return "watched"',
    "test_prompt_with_embedded_resource": (
        'content.add_resource(tool_input["resourceUri"], "Embedded resource content for testing.", "text/plain")\n'
        'content.add_text("Please process the embedded resource above.")\n'
        'return ""'
    ),
    "test_prompt_with_image": (
        f'content.add_image(base64.b64decode("{PIXEL}"), "image/png")\n'
        'content.add_text("Please analyze the image above.")\n'
        'return ""'
    ),
    "test_input_required_result_prompt": (
        'question = Form("What context should the prompt use?", {"context": {"type": "string"}}, required=["context"])\n'
        'answer = await request_input("user_context", question)\n'
        'return f"The context is {answer.content[\'context\']}."'
    ),
    CHANGING: 'return "the tools of the gateway have changed"',
    CHANGED: 'return "ok"',
    CHANGING_PROMPTS: 'return "the prompts have changed"',
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
    "test_elicitation": {
        "type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"], "additionalProperties": False,
    },
    "test_sampling": {
        "type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"], "additionalProperties": False,
    },
    "test_custom_headers": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "query": {"type": "string"}},
        "additionalProperties": False,
    },
    "greet": {
        "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": False,
    },
    "test_template": {
        "type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "additionalProperties": False,
    },
    "test_prompt_with_embedded_resource": {
        "type": "object",
        "properties": {"resourceUri": {"type": "string", "description": "URI of the resource to embed"}},
        "required": ["resourceUri"],
        "additionalProperties": False,
    },
    "slow_compute": {
        "type": "object",
        "properties": {"seconds": {"type": "number", "minimum": 0}, "label": {"type": "string"}},
        "required": ["seconds", "label"],
        "additionalProperties": False,
    },
    "confirm_delete": {
        "type": "object", "properties": {"filename": {"type": "string"}}, "required": ["filename"], "additionalProperties": False,
    },
}
EMPTY = {"type": "object", "properties": {}, "additionalProperties": False}

#: Further keys of the manifests.
SETTINGS = {
    # The suite begins tasks of 60 seconds, and cancels them.
    "slow_compute": {"tasks": "optional", "timeout_seconds": 90},
    "failing_job": {"tasks": "required"},
    "protocol_error_job": {"tasks": "optional"},
    "confirm_delete": {"tasks": "optional"},
    "multi_input": {"tasks": "optional"},
    "test_tool_with_task": {"tasks": "required"},
}

#: The tables `mcp` of the manifests.
MCP = {
    "test_static_text": {"resource": "test://static-text"},
    "test_static_binary": {"resource": "test://static-binary"},
    "test_template": {"resource": "test://template/{id}/data"},
    "test_watched_resource": {"resource": "test://watched-resource"},
    "test_prompt_with_embedded_resource": {"prompt": True},
    "test_prompt_with_image": {"prompt": True},
    "test_input_required_result_prompt": {"prompt": True},
    "test_tool_with_task": {"ask_first": True},
}


def table(settings):
    """Returns the lines of a table in TOML. Its texts, flags and numbers are written as in JSON."""
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())


def files(name):
    """Returns the files of a tool's project by their names."""
    body = "\n".join(f"    {line}" for line in BODIES[name].split("\n"))
    source = f"{IMPORTS}\n\nasync def {SIGNATURE}:\n{body}\n"
    settings = {"input_schema": "input.json", **SETTINGS.get(name, {})}
    mcp = f"\n[tool.lathe.mcp]\n{table(MCP[name])}" if name in MCP else ""
    manifest = f'[project]\nname = "{name}"\n\n[tool.lathe]\n{table(settings)}{mcp}'
    return {"tool.py": source, "pyproject.toml": manifest, "input.json": json.dumps(SCHEMAS.get(name, EMPTY))}
