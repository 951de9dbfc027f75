"""The tools that the sessions call, as projects of published Python tools."""

import json

SIGNATURE = "run_tool(tool_input, metadata, config, conversation, send_status_event, user_variables)"


def object_of(**properties):
    """Returns the schema of an object, all of whose properties are required."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def project(name, body, inputs=None, output=None):
    """Returns the files of a tool's project by their names."""
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    imports = "import asyncio\n\nfrom amigo_tool_scaffold.interaction import Form, request_input\n"
    manifest = f'[project]\nname = "{name}"\n\n[tool.lathe]\ninput_schema = "input.json"\n'
    files = {"tool.py": f"{imports}\n\nasync def {SIGNATURE}:\n{lines}\n", "input.json": json.dumps(inputs or object_of())}
    if output:
        files["output.json"] = json.dumps(output)
        manifest += 'output_schema = "output.json"\n'
    return {**files, "pyproject.toml": manifest}


def edition(number):
    """A tool of which each session publishes another version."""
    return project("edition", f'return "edition {number}"')


WHOLE = {"type": "integer"}
PROJECTS = {
    "add": project(
        "add", 'return {"sum": tool_input["left"] + tool_input["right"]}', object_of(left=WHOLE, right=WHOLE), object_of(sum=WHOLE)
    ),
    "count": project(
        "count",
        "for step in (1, 2, 3):\n"
        '    await send_status_event(f"step {step}", progress=step, total=3)\n'
        "    await asyncio.sleep(0.05)\n"
        'return "counted"',
    ),
    "find": project("find", "raise LookupError(f\"no order {tool_input['order']}\")", object_of(order={"type": "string"})),
    "choose": project(
        "choose",
        'sizes = {"size": {"type": "string", "enum": ["S", "M"]}}\n'
        'answer = await request_input("size", Form("Which size?", sizes, required=["size"]))\n'
        'return f"{answer.action} {answer.content[\'size\']}"',
    ),
    "edition": edition(1),
}
