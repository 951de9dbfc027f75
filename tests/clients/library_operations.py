"""Calls every operation of the Library over REST."""

import secrets

from strict import Field, parsed

# The fields of an item, and a change of it, for each family.
FAMILIES = {
    "memory": ("memory_id", {"content": "Made by a script.", "tags": ["script"]}, {"content": "Changed."}),
    "rules": ("rule_id", {"description": "d", "content": "c", "category": "must", "severity": "low"}, {"enabled": False}),
    "skills": ("skill_id", {"name": "NAME", "content": "# Greet"}, {"description": "Greets."}),
    "prompts": ("prompt_id", {"name": "NAME", "content": "Hello {{customer}}"}, {"content": "Hi {{customer}}"}),
    "artifacts": ("artifact_id", {"title": "t", "artifact_type": "plan", "content": "c", "content_type": "text/plain"}, None),
}


class LibraryWalk:
    """The life of one item of each family."""

    def __init__(self, client):
        self.client, self.name = client, f"script-{secrets.token_hex(4)}"

    def call(self, method, operation, status, body=None, query=(), **parameters):
        """Calls an operation, whose path has the names of its parameters, prints it and returns the data."""
        path = f"/api/v1{operation}".format(**parameters)
        answer = parsed(self.client.exchange(method, path, query, body, base=""), status)
        answer["success"].expect(True)
        self.client.report(f"{method} /api/v1{operation} {status}")
        return answer["data"]

    def family(self, path, name, fields, change):
        fields = {key: self.name if value == "NAME" else value for key, value in fields.items()}
        item = self.call("POST", f"/{path}", 201, fields)
        one, known = f"/{path}/{{{name}}}", {name: item[name].id()}
        self.call("GET", one, 200, **known)[name].expect(known[name])
        listed = self.call("GET", f"/{path}", 200, query=[("limit", "200")])
        listed["has_more"].truth()
        Field(known[name] in [row[name].text() for row in listed["items"].items()], "the list").expect(True)
        if path == "memory":
            found = self.call("POST", "/memory/search", 200, {"query": "script", "limit": 50})["items"].items()
            Field(known[name] in [row[name].text() for row in found], "the search").expect(True)
        if change:
            for method, revision in (("PATCH", 2), ("PUT", 3)):
                self.call(method, one, 200, change, **known)["revision"].expect(revision)
        if path == "artifacts":
            shared = self.call("POST", f"{one}/share", 200, {"user_id": self.client.user}, **known)
            shared["shared_with"].expect(self.client.user)
            self.download(self.call("GET", one, 200, query=[("with_download_url", "true")], **known))
        if path != "prompts":
            self.call("DELETE", one, 200, **known)["deleted"].expect(True)

    def download(self, artifact):
        path = "/api/v1/downloads/" + artifact["download_url"].text().rsplit("/", 1)[1]
        response, body = self.client.exchange("GET", path, base="")
        Field((response.status, body.decode()), "the download").expect((200, artifact["content"].text()))
        self.client.report("GET /api/v1/downloads/{download} 200")

    def preferences(self):
        one, known = "/preferences/{key}", {"key": self.name}
        self.call("PUT", one, 200, {"value": [1, 2]}, **known)["key"].expect(self.name)
        self.call("GET", one, 200, **known)["value"].expect([1, 2])
        self.call("GET", "/preferences", 200, query=[("source", "explicit")])["items"].items()
        self.call("DELETE", one, 200, **known)["deleted"].expect(True)

    def tasks(self):
        task = self.call("POST", "/tasks", 201, {"description": "Write a report.", "cron": "0 9 * * 1-5", "timezone": "Europe/Berlin"})
        one, known = "/tasks/{task_id}", {"task_id": task["task_id"].id()}
        self.call("GET", one, 200, **known)["recurrence"].expect("cron")
        self.call("GET", "/tasks", 200, query=[("status", "open")])["items"].items()
        self.call("POST", f"{one}/skip-next", 200, {}, **known)["skip_next"].expect(True)
        self.call("POST", f"{one}/end-recurrence", 200, {}, **known)["status"].expect("done")
        self.call("DELETE", one, 200, **known)["deleted"].expect(True)
        known = {"task_id": self.call("POST", "/tasks", 201, {"description": "Call the customer."})["task_id"].id()}
        self.call("POST", f"{one}/complete", 200, {"result": "Done."}, **known)["status"].expect("done")

    def all(self):
        for path, (name, fields, change) in FAMILIES.items():
            self.family(path, name, fields, change)
        self.preferences()
        self.tasks()
