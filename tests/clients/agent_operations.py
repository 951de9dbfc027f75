"""Calls every operation of agents and conversations, with a published tool."""

import secrets

from strict import Field, check_record, check_results, page, parsed

STATE = "greeting"
PERSISTENCE = "persisted-preferred"


def check_specification(specification, tool):
    """Checks a tool of an agent with its options."""
    specification["tool_id"].expect(tool)
    specification["version_constraint"].text(), specification["additional_instruction"].text()
    specification["audio_fillers"].texts(), specification["result_persistence"].expect(PERSISTENCE)


def check_agent(agent):
    for name in ("created_at", "updated_at"):
        agent[name].moment()
    for name in ("agent_type", "author", "description", "name", "org_id", "scope", "slug", "updated_by"):
        agent[name].text()
    return agent["id"].id()


def check_configuration(configuration, tool):
    """Checks a draft or a revision, which has the tool as its assignment and in its state."""
    configuration["system_prompt"].text(), configuration["tool_exposure"].expect("full")
    (assignment,) = configuration["assignments"].items()
    check_specification(assignment, tool)
    check_states(configuration, tool)


def check_states(answer, tool):
    (state,) = answer["states"].items()
    state["name"].expect(STATE), state["type"].expect("action"), state["exit_condition_tool_call_specs"].expect([])
    (specification,) = state["action_tool_call_specs"].items()
    check_specification(specification, tool)


def check_deployment(revision, number):
    revision["number"].expect(number), revision["deployed_at"].moment(), revision["deployed_by"].text()


def check_conversation(conversation, agent):
    conversation["agent_id"].expect(agent), conversation["mode"].expect("regular"), conversation["ended_at"].expect(None)
    conversation["started_at"].moment(), conversation["user_id"].text()
    return conversation["id"].id()


def check_turn(turn, tool):
    turn["state"].expect(STATE), turn["list"].expect("action"), turn["revision"].expect(1), turn["began_at"].moment()
    turn["interaction_id"].id(), turn["state_transition_index"].whole(), turn["tool_call_round_index"].whole()
    (presented,) = turn["tools"].items()
    check_specification(presented, tool)
    presented["version"].expect("1.0.0"), presented["component_digest"].text(), presented["input_schema"].map()
    return turn["id"].id(), presented["name"].text()


class AgentWalk:
    """The life of one agent with one tool, and of one conversation."""

    def __init__(self, client, tool):
        self.client, self.tool = client, tool
        self.specification = {"tool_id": tool, "version_constraint": ">=1.0,<2"}

    def call(self, method, operation, status, body=None, query=()):
        """Calls an operation, whose path has the names of its parameters, and prints it."""
        path = operation
        for name, value in vars(self).items():
            path = path.replace(f"{{{name}}}", str(value))
        answer = parsed(self.client.exchange(method, path, query, body), status)
        self.client.say(f"{method} {operation}", status, "", below="")
        return answer

    def draft(self):
        slug = f"every-operation-{secrets.token_hex(4)}"
        body = {"agent_type": "agent", "slug": slug, "name": "Every operation", "description": "Made by a script."}
        self.agent_id = self.call("POST", "/agent", 201, body)["id"].id()
        self.call("POST", "/agent/{agent_id}", 204, {"system_prompt": "Be brief."})
        self.call("POST", "/agent/{agent_id}/assignment", 204, self.specification)
        state = {"name": STATE, "type": "action", "action_tool_call_specs": [self.specification]}
        self.call("POST", "/agent/{agent_id}/state", 204, {**state, "exit_condition_tool_call_specs": []})
        (agent,) = page(self.call("GET", "/agent", 200, query=[("slug", slug)]), "agents")
        Field(check_agent(agent), "the agent").expect(self.agent_id)
        agent = self.call("GET", "/agent/{agent_id}", 200)
        check_agent(agent), check_configuration(agent["draft"], self.tool), agent["running_revision"].expect(None)
        (assignment,) = self.call("GET", "/agent/{agent_id}/assignment", 200)["assignments"].items()
        check_specification(assignment, self.tool)
        check_states(self.call("GET", "/agent/{agent_id}/state", 200), self.tool)

    def deploy(self):
        revision = self.call("POST", "/agent/{agent_id}/deploy", 200)
        self.number = revision["number"].whole()
        (listed,) = page(self.call("GET", "/agent/{agent_id}/revision", 200), "revisions")
        for found in (revision, self.call("GET", "/agent/{agent_id}/revision/{number}", 200)):
            check_deployment(found, 1), check_configuration(found, self.tool)
        check_deployment(listed, 1)
        tools = self.call("GET", "/agent/{agent_id}/tools", 200, query=[("format", "openai")])
        tools["revision"].expect(1)
        for tool in tools["tools"].items():
            tool["type"].expect("function"), tool["function"]["name"].text(), tool["function"]["parameters"].map()

    def converse(self):
        conversation = self.call("POST", "/agent/{agent_id}/conversation", 201, {"mode": "regular"})
        self.conversation_id = check_conversation(conversation, self.agent_id)
        (listed,) = page(self.call("GET", "/agent/{agent_id}/conversation", 200), "conversations")
        for found in (listed, self.call("GET", "/conversation/{conversation_id}", 200)):
            Field(check_conversation(found, self.agent_id), "the conversation").expect(self.conversation_id)
        turn = self.call("POST", "/conversation/{conversation_id}/turn", 201, {"state": STATE, "list": "action"})
        self.turn_id, name = check_turn(turn, self.tool)
        shown = self.call("GET", "/conversation/{conversation_id}/turn/{turn_id}", 200)
        Field(check_turn(shown, self.tool), "the turn").expect((self.turn_id, name))
        body = {"tool": name, "inputs": [{"input_parameters": {"name": "Ada"}}]}
        answer = self.call("POST", "/conversation/{conversation_id}/turn/{turn_id}/invoke", 200, body)
        check_results(answer, ["Hello Ada, yours"])
        (record,) = page(self.call("GET", "/conversation/{conversation_id}/log", 200), "tool_invocations")
        Field(check_record(record), "the log").expect("Hello Ada, yours")
        record["agent_call"]["turn_id"].expect(self.turn_id)

    def end(self):
        self.tool_id, self.state_name = self.tool, STATE
        self.call("DELETE", "/conversation/{conversation_id}", 204)
        self.call("DELETE", "/agent/{agent_id}/state/{state_name}", 204)
        self.call("DELETE", "/agent/{agent_id}/assignment/{tool_id}", 204)
        self.call("DELETE", "/agent/{agent_id}", 204)

    def all(self):
        self.draft(), self.deploy(), self.converse(), self.end()
