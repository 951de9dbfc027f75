"""Types and helpers for authors of tools.

A tool is one function, `run_tool`. Import the types of its six parameters from the modules here, and `run` from
`amigo_tool_scaffold.testing` to exercise it under plain CPython. This module imports nothing, so that a tool pays
only for what it names.
"""
