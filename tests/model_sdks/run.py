"""Runs applications and agents with the SDKs of OpenAI and Anthropic: python3 run.py LATHE

LATHE is the program. The Python that runs this needs requirements.txt. The model is a script on loopback, whose answers are objects
of the SDK of its vendor, and which refuses every request that is not of the SDK's request type.
"""

import pathlib
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(TESTS / "clients"), str(TESTS / "sessions")]

import anthropic_api
import openai_api
from checks import expect
from endpoint import KEY, Endpoint
from mcp_server import Server
from office import Office

#: Both calls of an answer, and their results.
CALLS = [("add", {"left": 2, "right": 3}), ("find", {"order": "8812"})]
RESULTS = ['{"sum":5}', "LookupError: no order 8812"]
#: Tokens of an answer.
TOKENS = 12
#: Seconds that an endpoint asks for.
PAUSE = 2


def busy(vendor):
    return 429, {"retry-after": PAUSE}, vendor.error("rate_limit_error")


def broken(vendor):
    return 500, {}, vendor.error("api_error")


def application(vendor, endpoint, office):
    """An application gives the agent's tools to the model by the SDK, and runs the calls at Lathe."""
    endpoint.begin([busy(vendor), broken(vendor), vendor.reply("I look.", CALLS), vendor.reply("It is 5.")])
    answer = vendor.application(endpoint.url, office.definitions(vendor.API), "How much is 2 + 3?", office.call)
    expect(answer, ("It is 5.", 2 * TOKENS), "the answer of the model and its tokens")
    requests = endpoint.end()
    expect(vendor.results(requests[-1][1]), RESULTS, "the results that the model has seen")
    vendor.check_definitions(office.definitions)


def run_of_an_agent(vendor, endpoint, office):
    """Lathe reads all kinds of answers of the vendor's types, and sends requests of the vendor's types."""
    endpoint.begin([
        busy(vendor),
        vendor.reply("I look.", CALLS),
        broken(vendor),
        vendor.reply("I talk."),
        vendor.cut_off("I write", [CALLS[0]]),
        vendor.reply(None, [("no such tool!", {"x": [1, None]})]),
        vendor.reply("I have it.", [("__complete__", {"answer": "5", "confidence": 0.5})]),
    ])
    run = office.execute("How much is two and three?", context={"customer": "ann"})
    expect((run["status"], run["final_answer"], run["confidence"], run["error"]), ("completed", "5", 0.5, None), "the run")
    expect((run["iterations"], run["tokens"]), (5, 5 * TOKENS), "the answers and the tokens")
    requests = endpoint.end()
    pause = endpoint.times[1] - endpoint.times[0]
    expect(PAUSE <= pause < PAUSE + 1.5, True, f"the pause of {pause:.1f} s that the endpoint asked for")
    *found, cut_off, unknown = vendor.results(requests[-1][1])
    expect(found, RESULTS, "the results of the calls")
    expect("cut off" in cut_off, True, f"the result {cut_off!r} of the call that was cut off")
    expect("no such tool!" in unknown, True, f"the result {unknown!r} of the unknown tool")
    thoughts = [step["thought"] for step in run["trace"]]
    expect([thoughts[0], thoughts[2], thoughts[-1]], ["I look.", "I talk.", "I have it."], "the thoughts")
    for headers, _ in requests:
        expect({name: headers.get(name) for name in vendor.HEADERS}, vendor.HEADERS, "the headers")


def refused(vendor, endpoint, office):
    """The message of a refusal is in the run."""
    endpoint.begin([(400, {}, vendor.error("invalid_request_error"))])
    error = office.execute("A refused run.")["error"]
    endpoint.end()
    told = "an error of type invalid_request_error" in error["message"]
    expect((error["code"], told), ("model_refused", True), f"the error {error}")


def main():
    (lathe,) = sys.argv[1:]
    for vendor in (openai_api, anthropic_api):
        with tempfile.TemporaryDirectory() as home, Endpoint(vendor) as endpoint:
            key = pathlib.Path(home) / "model.key"
            key.write_text(KEY)
            model = ["--model-url", endpoint.url + vendor.PATH, "--model-api", vendor.API, "--model", "small"]
            with Server(lathe, home, *model, "--model-key-file", str(key)) as server:
                office = Office(server)
                start = time.monotonic()
                application(vendor, endpoint, office)
                run_of_an_agent(vendor, endpoint, office)
                refused(vendor, endpoint, office)
        print(f"{vendor.API}: {time.monotonic() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
