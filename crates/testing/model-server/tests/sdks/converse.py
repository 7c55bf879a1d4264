"""Converses through a vendor's own client, and prints what it was told as one line of JSON.

Called with the wire, the base of the server, and the key that the server takes.
"""

import json
import sys

MODEL = "scripted-1"
SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}
# What differs from one request to the next, and what only the helpers of a client add.
NOT_COMPARED = {
    "id", "call_id", "signature", "encrypted_content", "parsed", "parsed_arguments", "parsed_output", "request_id",
    "index",
}


def plain(value):
    if isinstance(value, dict):
        kept = {name: plain(inner) for name, inner in value.items() if name not in NOT_COMPARED}
        return {name: inner for name, inner in kept.items() if inner not in (None, [], {})}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value


class Messages:
    def __init__(self, base, key, retries):
        import anthropic

        self.errors = anthropic
        self.client = anthropic.Anthropic(base_url=base, api_key=key, max_retries=retries)
        self.tools = [{"name": "read_file", "description": "Reads a file.", "input_schema": SCHEMA}]

    def ask(self, history, stream):
        asked = dict(model=MODEL, max_tokens=1000, messages=history, tools=self.tools, system="Be brief.")
        if not stream:
            return self.client.messages.create(**asked)
        with self.client.messages.stream(**asked) as events:
            return events.get_final_message()

    def invalid(self):
        return self.client.messages.create(model=MODEL, max_tokens=0, messages=[{"role": "user", "content": "x"}])

    def text(self, answer):
        return "".join(block.text for block in answer.content if block.type == "text")

    def stop(self, answer):
        return answer.stop_reason

    def refusal(self, answer):
        return answer.stop_details.explanation

    def calls(self, answer):
        return [(block.id, block.name, block.input) for block in answer.content if block.type == "tool_use"]

    def with_results(self, history, answer, results):
        blocks = [{"type": "tool_result", "tool_use_id": id, "content": text} for id, text in results]
        return history + [answer.to_param(), {"role": "user", "content": blocks}]

    def usage(self, answer):
        told = answer.usage
        return {
            "input": told.input_tokens,
            "cache_read": told.cache_read_input_tokens,
            "cache_write": told.cache_creation_input_tokens,
            "output": told.output_tokens,
            "reasoning": told.output_tokens_details.thinking_tokens,
        }


class Responses:
    def __init__(self, base, key, retries):
        import openai

        self.errors = openai
        self.client = openai.OpenAI(base_url=base + "/v1", api_key=key, max_retries=retries)
        self.tools = [{"type": "function", "name": "read_file", "parameters": SCHEMA, "strict": True}]

    def ask(self, history, stream):
        asked = dict(model=MODEL, max_output_tokens=1000, input=history, tools=self.tools, instructions="Be brief.")
        if not stream:
            return self.client.responses.create(**asked)
        with self.client.responses.stream(**asked) as events:
            last = None
            for last in events:
                pass
            # The helper only knows an answer that is complete.
            return last.response if last.type == "response.incomplete" else events.get_final_response()

    def invalid(self):
        return self.client.responses.create(model=MODEL, input=[{"role": "robot", "content": "x"}])

    def text(self, answer):
        return answer.output_text

    def stop(self, answer):
        return answer.incomplete_details.reason if answer.status == "incomplete" else answer.status

    def refusal(self, answer):
        parts = [part for item in answer.output if item.type == "message" for part in item.content]
        return "".join(part.refusal for part in parts if part.type == "refusal")

    def calls(self, answer):
        calls = [item for item in answer.output if item.type == "function_call"]
        return [(call.call_id, call.name, json.loads(call.arguments)) for call in calls]

    def with_results(self, history, answer, results):
        outputs = [{"type": "function_call_output", "call_id": id, "output": text} for id, text in results]
        repeated = [item.to_dict(mode="json") for item in answer.output]
        for item in repeated:
            item.pop("parsed_arguments", None)
            for part in item.get("content") or []:
                part.pop("parsed", None)
        return history + repeated + outputs

    def usage(self, answer):
        told = answer.usage
        cached, written = told.input_tokens_details.cached_tokens, told.input_tokens_details.cache_write_tokens
        assert told.total_tokens == told.input_tokens + told.output_tokens
        return {
            "input": told.input_tokens - cached - written,
            "cache_read": cached,
            "cache_write": written,
            "output": told.output_tokens,
            "reasoning": told.output_tokens_details.reasoning_tokens,
        }


class Chat:
    def __init__(self, base, key, retries):
        import openai

        self.errors = openai
        self.client = openai.OpenAI(base_url=base + "/v1", api_key=key, max_retries=retries)
        function = {"name": "read_file", "parameters": SCHEMA, "strict": True}
        self.tools = [{"type": "function", "function": function}]

    def ask(self, history, stream):
        asked = dict(model=MODEL, max_completion_tokens=1000, messages=history, tools=self.tools)
        if not stream:
            return self.client.chat.completions.create(**asked)
        with self.client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as events:
            return events.get_final_completion()

    def invalid(self):
        return self.client.chat.completions.create(model=MODEL, messages=[{"role": "robot", "content": "x"}])

    def text(self, answer):
        return answer.choices[0].message.content

    def stop(self, answer):
        return answer.choices[0].finish_reason

    def refusal(self, answer):
        return answer.choices[0].message.refusal

    def calls(self, answer):
        calls = answer.choices[0].message.tool_calls or []
        return [(call.id, call.function.name, json.loads(call.function.arguments)) for call in calls]

    def with_results(self, history, answer, results):
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in answer.choices[0].message.tool_calls
        ]
        repeated = {"role": "assistant", "content": self.text(answer), "tool_calls": calls}
        return history + [repeated] + [{"role": "tool", "tool_call_id": id, "content": text} for id, text in results]

    def usage(self, answer):
        told, details = answer.usage, answer.usage.prompt_tokens_details
        assert told.total_tokens == told.prompt_tokens + told.completion_tokens
        return {
            "input": told.prompt_tokens - details.cached_tokens - details.cache_write_tokens,
            "cache_read": details.cached_tokens,
            "cache_write": details.cache_write_tokens,
            "output": told.completion_tokens,
            "reasoning": told.completion_tokens_details.reasoning_tokens,
        }


def user(text):
    return [{"role": "user", "content": text}]


def converse(wire, seen):
    """Every case whole and as a stream; both must be the same to the client."""
    total = seen["usage"]

    def asked(history, stream):
        answer = wire.ask(history, stream)
        for kind, tokens in wire.usage(answer).items():
            total[kind] = total.get(kind, 0) + tokens
        return answer

    def both(history):
        answers = [asked(history, stream) for stream in (False, True)]
        whole, streamed = (plain(answer.to_dict(mode="json")) for answer in answers)
        assert whole == streamed, f"{whole}\n{streamed}"
        return answers

    for name in ("text", "length", "refusal"):
        # The helper for streams of Chat Completions takes an answer that was cut short for an error.
        alone = name == "length" and isinstance(wire, Chat)
        answer = asked(user("case:length"), False) if alone else both(user(f"case:{name}"))[0]
        seen["said"][name] = {"text": wire.text(answer), "stop": wire.stop(answer)}
        if name == "refusal":
            seen["said"][name]["refusal"] = wire.refusal(answer)

    history = user("case:tool")
    for answer in both(history):
        calls = wire.calls(answer)
        seen["calls"] = [[name, arguments] for _, name, arguments in calls]
        results = [(id, f"tool said word{index}") for index, (id, _, _) in enumerate(calls)]
        last, _ = both(wire.with_results(history, answer, results))
        seen["said"]["tool"] = {"text": wire.text(last), "stop": wire.stop(last)}


def name_of_error(errors, act):
    try:
        act()
    except errors.APIError as error:
        return type(error).__name__
    except Exception as error:
        return f"another: {type(error).__name__}"
    return "no error"


def main(name, base, key):
    make = {"messages": Messages, "responses": Responses, "chat": Chat}[name]
    wire = make(base, key, 0)
    seen = {"usage": {}, "said": {}, "errors": {}}
    converse(wire, seen)
    for case in ("429", "429-later", "529", "503", "500", "middle", "cut"):
        for stream in (False, True):
            place = f"{case} {'stream' if stream else 'whole'}"
            act = lambda: wire.ask(user(f"case:{case}"), stream)
            seen["errors"][place] = name_of_error(wire.errors, act)
    try:
        wire.ask(user("case:429-later"), False)
    except wire.errors.RateLimitError as error:
        seen["retry_after"] = error.response.headers["retry-after"]
    seen["errors"]["invalid"] = name_of_error(wire.errors, wire.invalid)
    stranger = make(base, "not-the-key", 0)
    seen["errors"]["key"] = name_of_error(wire.errors, lambda: stranger.ask(user("case:text"), False))
    patient = make(base, key, 2)
    seen["said"]["retried"] = {"text": patient.text(patient.ask(user("case:retried"), False))}
    print(json.dumps(seen))


main(*sys.argv[1:])
