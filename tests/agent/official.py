"""Asks the server whose base URL is given, and prints what the official client makes of its answers."""

import json
import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1])
ask = {"model": "test-model", "messages": [{"role": "user", "content": "Hello"}]}
tool = {"name": "run", "description": "Runs.", "parameters": {"type": "object", "properties": {}}}
found = {}

text, finish, usage = "", None, None
for chunk in client.chat.completions.create(**ask, stream=True, stream_options={"include_usage": True}):
    for choice in chunk.choices:
        text += choice.delta.content or ""
        finish = choice.finish_reason or finish
    usage = chunk.usage or usage
found["hello"] = {
    "text": text,
    "finish": finish,
    "usage": [usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens, usage.completion_tokens],
}

# The client's own assembly of the pieces.
with client.chat.completions.stream(**ask, tools=[{"type": "function", "function": tool}]) as stream:
    choice = stream.get_final_completion().choices[0]
calls = [[call.id, call.function.name, call.function.arguments] for call in choice.message.tool_calls]
found["calls"] = {"calls": calls, "finish": choice.finish_reason}

found["whole"] = client.chat.completions.create(**ask).choices[0].message.content

try:
    client.chat.completions.create(**ask)
except openai.APIStatusError as error:
    found["refused"] = [type(error).__name__, error.status_code, error.code]

chunks = client.chat.completions.create(**ask, stream=True)
found["retried"] = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)

try:
    list(client.chat.completions.create(**ask, stream=True))
except openai.APIError as error:
    found["broken"] = [type(error).__name__, error.message]

print(json.dumps(found))
