"""The same echo tool as a separate process: one word in upper case."""

import json
import sys

print(json.dumps({"text": json.load(sys.stdin)["text"].upper()}))
