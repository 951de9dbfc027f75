"""Types and helpers for authors of tools.

A tool is one function, `run_tool`. Import the types of its six parameters from the modules here, and `run` from
`amigo_tool_scaffold.testing` to test it under plain CPython. This module imports nothing, so that a tool loads only the
modules that it imports.
"""
