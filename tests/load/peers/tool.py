"""The equal of the echo tool as a process of its own: one word in upper case."""

import json
import sys

print(json.dumps({"text": json.load(sys.stdin)["text"].upper()}))
