// Converses through a vendor's own client, and prints what it was told as one line of JSON.
// Called with the wire, the base of the server, and the key that the server takes; the folder of the packages is
// AMBIT_MODEL_SDKS_NODE.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const packages = createRequire(pathToFileURL(`${process.env.AMBIT_MODEL_SDKS_NODE}/`));
const [name, base, key] = process.argv.slice(2);
const model = "scripted-1";
const schema = {
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
  additionalProperties: false,
};
// What differs from one request to the next, and what only the helpers of a client add.
const notCompared = new Set([
  "id", "call_id", "signature", "encrypted_content", "parsed", "parsed_arguments", "parsed_output", "output_parsed",
  "request_id", "_request_id", "index", "output_text",
  // Other vendors' word, of which this client keeps the last piece of a stream.
  "reasoning_content",
]);

function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  const kept = Object.entries(value)
    .filter(([field]) => !notCompared.has(field))
    .map(([field, inner]) => [field, plain(inner)])
    .filter(([, inner]) => inner !== null && inner !== undefined)
    .filter(([, inner]) => typeof inner !== "object" || Object.keys(inner).length > 0);
  return Object.fromEntries(kept.sort(([one], [other]) => (one < other ? -1 : 1)));
}

class Messages {
  constructor(apiKey, maxRetries) {
    const { Anthropic } = packages("@anthropic-ai/sdk");
    this.errors = packages("@anthropic-ai/sdk");
    this.client = new Anthropic({ baseURL: base, apiKey, maxRetries });
    this.tools = [{ name: "read_file", description: "Reads a file.", input_schema: schema }];
  }

  ask(messages, stream) {
    const asked = { model, max_tokens: 1000, messages, tools: this.tools, system: "Be brief." };
    return stream ? this.client.messages.stream(asked).finalMessage() : this.client.messages.create(asked);
  }

  invalid() {
    return this.client.messages.create({ model, max_tokens: 0, messages: user("x") });
  }

  text = (answer) => answer.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  stop = (answer) => answer.stop_reason;
  refusal = (answer) => answer.stop_details.explanation;
  calls = (answer) =>
    answer.content.filter(({ type }) => type === "tool_use").map(({ id, name, input }) => [id, name, input]);

  withResults(history, answer, results) {
    const content = results.map(([id, text]) => ({ type: "tool_result", tool_use_id: id, content: text }));
    return [...history, { role: "assistant", content: answer.content }, { role: "user", content }];
  }

  usage = ({ usage }) => ({
    input: usage.input_tokens,
    cache_read: usage.cache_read_input_tokens,
    cache_write: usage.cache_creation_input_tokens,
    output: usage.output_tokens,
    reasoning: usage.output_tokens_details.thinking_tokens,
  });
}

class Responses {
  constructor(apiKey, maxRetries) {
    const { OpenAI } = packages("openai");
    this.errors = packages("openai");
    this.client = new OpenAI({ baseURL: `${base}/v1`, apiKey, maxRetries });
    this.tools = [{ type: "function", name: "read_file", parameters: schema, strict: true }];
  }

  async ask(input, stream) {
    const asked = { model, max_output_tokens: 1000, input, tools: this.tools, instructions: "Be brief." };
    return stream ? this.client.responses.stream(asked).finalResponse() : this.client.responses.create(asked);
  }

  invalid() {
    return this.client.responses.create({ model, input: [{ role: "robot", content: "x" }] });
  }

  text = (answer) => answer.output_text;
  stop = (answer) => (answer.status === "incomplete" ? answer.incomplete_details.reason : answer.status);
  refusal = (answer) =>
    answer.output.filter(({ type }) => type === "message").map(({ content }) => content[0].refusal).join("");
  calls = (answer) =>
    answer.output
      .filter(({ type }) => type === "function_call")
      .map((call) => [call.call_id, call.name, JSON.parse(call.arguments)]);

  withResults(history, answer, results) {
    const repeated = structuredClone(answer.output);
    for (const item of repeated) {
      delete item.parsed_arguments;
      for (const part of item.content ?? []) delete part.parsed;
    }
    const outputs = results.map(([id, text]) => ({ type: "function_call_output", call_id: id, output: text }));
    return [...history, ...repeated, ...outputs];
  }

  usage({ usage }) {
    const { cached_tokens, cache_write_tokens } = usage.input_tokens_details;
    assert.equal(usage.total_tokens, usage.input_tokens + usage.output_tokens);
    return {
      input: usage.input_tokens - cached_tokens - cache_write_tokens,
      cache_read: cached_tokens,
      cache_write: cache_write_tokens,
      output: usage.output_tokens,
      reasoning: usage.output_tokens_details.reasoning_tokens,
    };
  }
}

class Chat {
  constructor(apiKey, maxRetries) {
    const { OpenAI } = packages("openai");
    this.errors = packages("openai");
    this.client = new OpenAI({ baseURL: `${base}/v1`, apiKey, maxRetries });
    this.tools = [{ type: "function", function: { name: "read_file", parameters: schema, strict: true } }];
  }

  async ask(messages, stream) {
    const asked = { model, max_completion_tokens: 1000, messages, tools: this.tools };
    if (!stream) return this.client.chat.completions.create(asked);
    return this.client.chat.completions
      .stream({ ...asked, stream_options: { include_usage: true } })
      .finalChatCompletion();
  }

  invalid() {
    return this.client.chat.completions.create({ model, messages: [{ role: "robot", content: "x" }] });
  }

  text = (answer) => answer.choices[0].message.content;
  stop = (answer) => answer.choices[0].finish_reason;
  refusal = (answer) => answer.choices[0].message.refusal;
  calls = (answer) =>
    (answer.choices[0].message.tool_calls ?? []).map(({ id, function: { name, arguments: words } }) => [
      id,
      name,
      JSON.parse(words),
    ]);

  withResults(history, answer, results) {
    const calls = answer.choices[0].message.tool_calls.map(({ id, function: called }) => ({
      id,
      type: "function",
      function: { name: called.name, arguments: called.arguments },
    }));
    const repeated = { role: "assistant", content: this.text(answer), tool_calls: calls };
    return [...history, repeated, ...results.map(([id, content]) => ({ role: "tool", tool_call_id: id, content }))];
  }

  usage({ usage }) {
    const { cached_tokens, cache_write_tokens } = usage.prompt_tokens_details;
    assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
    return {
      input: usage.prompt_tokens - cached_tokens - cache_write_tokens,
      cache_read: cached_tokens,
      cache_write: cache_write_tokens,
      output: usage.completion_tokens,
      reasoning: usage.completion_tokens_details.reasoning_tokens,
    };
  }
}

const user = (content) => [{ role: "user", content }];
const Wire = { messages: Messages, responses: Responses, chat: Chat }[name];
const wire = new Wire(key, 0);
const seen = { usage: {}, said: {}, errors: {} };

async function asked(history, stream) {
  const answer = await wire.ask(history, stream);
  for (const [kind, tokens] of Object.entries(wire.usage(answer))) {
    seen.usage[kind] = (seen.usage[kind] ?? 0) + tokens;
  }
  return answer;
}

async function both(history) {
  const answers = [await asked(history, false), await asked(history, true)];
  assert.deepEqual(plain(answers[1]), plain(answers[0]));
  return answers;
}

async function nameOfError(act) {
  try {
    await act();
  } catch (error) {
    const vendors = wire.errors.OpenAIError ?? wire.errors.AnthropicError;
    return error instanceof vendors ? error.constructor.name : `another: ${error.constructor.name}`;
  }
  return "no error";
}

for (const kind of ["text", "length", "refusal"]) {
  // The helper for streams of Chat Completions takes an answer that was cut short for an error.
  const alone = kind === "length" && name === "chat";
  const answer = alone ? await asked(user("case:length"), false) : (await both(user(`case:${kind}`)))[0];
  seen.said[kind] = { text: wire.text(answer), stop: wire.stop(answer) };
  if (kind === "refusal") seen.said[kind].refusal = wire.refusal(answer);
}
const history = user("case:tool");
for (const answer of await both(history)) {
  const calls = wire.calls(answer);
  seen.calls = calls.map(([, called, given]) => [called, given]);
  const results = calls.map(([id], index) => [id, `tool said word${index}`]);
  const [last] = await both(wire.withResults(history, answer, results));
  seen.said.tool = { text: wire.text(last), stop: wire.stop(last) };
}
for (const kind of ["429", "429-later", "529", "503", "500", "middle", "cut"]) {
  for (const stream of [false, true]) {
    const place = `${kind} ${stream ? "stream" : "whole"}`;
    seen.errors[place] = await nameOfError(() => wire.ask(user(`case:${kind}`), stream));
  }
}
await wire.ask(user("case:429-later"), false).catch((error) => {
  seen.retry_after = error.headers.get("retry-after");
});
seen.errors.invalid = await nameOfError(() => wire.invalid());
seen.errors.key = await nameOfError(() => new Wire("not-the-key", 0).ask(user("case:text"), false));
const patient = new Wire(key, 2);
seen.said.retried = { text: patient.text(await patient.ask(user("case:retried"), false)) };
console.log(JSON.stringify(seen));
