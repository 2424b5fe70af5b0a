/**
 * Words of a stream are told as they come, and joined to one event of each kind in a row: what is read of it is the same as of the
 * events one by one, in every protocol, however the bytes are cut and whatever else is in the stream.
 */
import { describe, expect, test } from '@jest/globals';
import { eachLine } from '../../../src/platform/core/lines.ts';
import { joining, type Words } from '../../../src/platform/models/joined-events.ts';
import { fieldsOf } from '../../../src/platform/core/record.ts';
import { mended } from '../../../src/platform/models/mended-lines.ts';
import { drawn } from '../../support/runner/sizes.ts';

const data = (event: unknown, name?: string): string =>
  `${name ? `event: ${name}\n` : ''}data: ${JSON.stringify(event)}\n\n`;
const typed = (event: { type: string } & Record<string, unknown>): string => data(event, event.type);
const chat = (delta: object, more: object = {}, ofChoice: object = {}): string =>
  data({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, ...ofChoice }],
    ...more,
  });
const gemini = (part: object, ofCandidate: object = {}, tokens = 1): string =>
  data({
    candidates: [{ content: { parts: [part], role: 'model' }, index: 0, ...ofCandidate }],
    usageMetadata: { candidatesTokenCount: tokens },
    modelVersion: 'g',
  });
const call = (index: number, made: object, more: object = {}): object => ({
  tool_calls: [{ index, ...more, function: made }],
});
const block = (index: number, delta: object): string => typed({ type: 'content_block_delta', index, delta });
const words = (delta: string, more: object = {}): string =>
  typed({ type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta, ...more });

/** Each stream, and how many events are left of it. */
const STREAMS: Record<string, [events: string[], left: number]> = {
  'chat: words': [
    ['a', 'b', '', 'c']
      .map((content) => chat({ content }))
      .concat(chat({}, {}, { finish_reason: 'stop' }), 'data: [DONE]\n\n'),
    3,
  ],
  'chat: reasoning, then words': [
    [
      chat({ reasoning_content: 'a' }),
      chat({ reasoning_content: 'b' }),
      chat({ content: 'c' }),
      chat({ content: 'd' }),
    ],
    2,
  ],
  'chat: two kinds in one event': [[chat({ content: 'a', reasoning: 'b' }), chat({ content: 'c', reasoning: 'd' })], 2],
  'chat: calls': [
    [
      chat(call(0, { name: 'add', arguments: '' }, { id: 'c1', type: 'function' })),
      ...['{"a"', ':1', '}'].map((text) => chat(call(0, { arguments: text }))),
      chat(call(1, { name: 'add', arguments: '{' }, { id: 'c2' })),
      ...['"b":', '2}'].map((text) => chat(call(1, { arguments: text }))),
    ],
    4,
  ],
  'chat: calls in turns': [[0, 1, 0, 1].map((index) => chat(call(index, { arguments: 'x' }))), 4],
  'chat: two calls in one event': [
    [1, 2].map(() => chat({ tool_calls: [0, 1].map((index) => ({ index, function: { arguments: 'x' } })) })),
    2,
  ],
  'chat: arguments as a value': [[chat(call(0, { arguments: { a: 1 } }))], 1],
  'chat: several choices': [
    [1, 2].map(() => data({ choices: [0, 1].map((index) => ({ index, delta: { content: 'a' } })) })),
    2,
  ],
  'chat: choices in turns': [[0, 1, 1].map((index) => data({ choices: [{ index, delta: { content: 'a' } }] })), 2],
  'chat: usage in each': [
    [1, 2, 3].map((completion_tokens) => chat({ content: 'a' }, { usage: { completion_tokens } })),
    1,
  ],
  'chat: usage in one': [
    [
      chat({ content: 'a' }),
      chat({ content: 'b' }, { usage: { completion_tokens: 2 } }),
      chat({ content: 'c' }, { usage: null }),
    ],
    3,
  ],
  'chat: probabilities': [
    ['a', 'b'].map((token) => chat({ content: token }, {}, { logprobs: { content: [{ token }] } })),
    2,
  ],
  'chat: details of reasoning': [['a', 'b'].map((text) => chat({ reasoning: text, reasoning_details: [{ text }] })), 2],
  'chat: an error among words': [
    [
      chat({ content: 'a' }),
      chat({ content: 'b' }, { error: { code: 502, message: 'no' } }),
      data({ error: { message: 'no' } }),
    ],
    3,
  ],
  'no JSON': [[chat({ content: 'a' }), 'data: {"choices":[{"delta":{"content":\n\n', chat({ content: 'b' })], 3],
  'comments, pings and what nobody knows': [
    [
      ': OPENROUTER PROCESSING\n\n',
      chat({ content: 'a' }),
      ': keepalive\n\n',
      chat({ content: 'b' }),
      typed({ type: 'ping' }),
      data({ type: 'news' }),
      'id: 4\nretry: 10\n\n',
    ],
    7,
  ],
  'an event of several lines': [
    ['data: {"choices":\ndata: [{"delta":{"content":"a"}}]}\n\n', chat({ content: 'b' })],
    2,
  ],
  Anthropic: [
    [
      block(0, { type: 'thinking_delta', thinking: 'a' }),
      block(0, { type: 'thinking_delta', thinking: 'b' }),
      block(0, { type: 'signature_delta', signature: 's' }),
      block(1, { type: 'text_delta', text: 'c' }),
      block(1, { type: 'text_delta', text: 'd' }),
      block(1, { type: 'citations_delta', citation: { cited_text: 'x' } }),
      block(2, { type: 'input_json_delta', partial_json: '' }),
      block(2, { type: 'input_json_delta', partial_json: '{}' }),
      block(3, { type: 'input_json_delta', partial_json: '{}' }),
    ],
    6,
  ],
  Responses: [
    [
      words('a', { sequence_number: 1, logprobs: [], obfuscation: 'x' }),
      words('b', { sequence_number: 2, logprobs: [], obfuscation: 'yz' }),
      words('c', { item_id: 'j' }),
      words('d', { item_id: 'j', output_index: 1 }),
      words('e', { item_id: 'j', output_index: 1, logprobs: [{ token: 'e' }] }),
      ...['{', '}'].map((delta) =>
        typed({ type: 'response.function_call_arguments.delta', item_id: 'f', output_index: 2, delta }),
      ),
      ...['{', '}'].map((delta) =>
        typed({ type: 'response.reasoning_summary_text.delta', item_id: 'f', summary_index: 0, delta }),
      ),
      ...['{', '}'].map((delta) => typed({ type: 'response.audio.delta', item_id: 'f', delta })),
    ],
    8,
  ],
  Gemini: [
    [
      gemini({ text: 'a', thought: true }, {}, 1),
      gemini({ text: 'b', thought: true }, {}, 2),
      gemini({ text: 'c' }, {}, 3),
      gemini({ text: 'd' }, {}, 4),
      gemini({ text: 'e', thoughtSignature: 's' }, {}, 5),
      gemini({ functionCall: { name: 'add' } }, {}, 6),
      gemini({ text: 'f' }, { finishReason: 'STOP' }, 7),
    ],
    5,
  ],
};

/** The text of each stream. */
const TEXTS: Record<string, string> = {
  'chat: words': 'abc',
  'chat: reasoning, then words': 'cd',
  'chat: two kinds in one event': 'ac',
  'chat: calls': '',
  'chat: calls in turns': '',
  'chat: two calls in one event': '',
  'chat: arguments as a value': '',
  // Of several choices the first is read.
  'chat: several choices': 'aa',
  'chat: choices in turns': 'aaa',
  'chat: usage in each': 'aaa',
  'chat: usage in one': 'abc',
  'chat: probabilities': 'ab',
  'chat: details of reasoning': '',
  'chat: an error among words': 'ab',
  'no JSON': 'ab',
  'comments, pings and what nobody knows': 'ab',
  'an event of several lines': 'b',
  Anthropic: 'cd',
  Responses: 'abcde',
  Gemini: 'cdef',
};

/** What a stream says: what its events are, with the texts of one kind in one. Made without the code that is tested. */
function said(stream: string): unknown[] {
  const texts: { where: string; text: string }[] = [];
  const walk = (value: unknown, where: string): void => {
    if (typeof value === 'object' && value !== null) {
      const { index, item_id, output_index, thought } = fieldsOf(value);
      const place = [where, index, item_id, output_index, thought].filter((each) => each !== undefined).join(' ');
      for (const [name, child] of Object.entries(value)) walk(child, `${place}/${/^\d+$/.test(name) ? '' : name}`);
    } else if (/\/(content|reasoning\w*|arguments|text|thinking|partial_json|delta)$/.test(where)) {
      const last = texts.at(-1);
      if (value === '') return;
      if (last?.where === where) last.text += String(value);
      else texts.push({ where, text: String(value) });
    } else if (
      !/sequence_number|obfuscation|TokenCount|completion_tokens|(^|\/)(type|role|id|thought|object|created|model\w*|index|item_id|\w+_index)$/.test(
        where,
      )
    )
      texts.push({ where, text: String(value) });
  };
  for (const each of stream.split(/\n\n/)) {
    const lines = each.split('\n');
    const json = lines
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice(5))
      .join('\n');
    if (json === '') {
      if (each !== '') texts.push({ where: 'other', text: each });
      continue;
    }
    try {
      walk(JSON.parse(json), '');
    } catch {
      texts.push({ where: 'raw', text: json });
    }
  }
  return texts;
}

interface Joined {
  stream: string;
  heard: Words[];
}
function joined(parts: readonly string[]): Joined {
  const heard: Words[] = [];
  const { take, end } = joining((words) => void heard.push(words))();
  for (const part of parts) take(part);
  return { stream: end(), heard };
}
const eventsIn = (stream: string): number => stream.split('\n\n').filter(Boolean).length;
const heardOf = (heard: readonly Words[], kind: Words['of']): string =>
  heard.map(({ of, text }) => (of === kind ? text : '')).join('');
/** What is passed on where nothing is joined. */
const mendedWhole = (stream: string): string => eachLine(stream, mended);

describe.each(Object.entries(STREAMS))('%s', (name, [events, left]) => {
  const whole = events.join('');

  // Guards: one event is left of each kind in a row, and it says all that they said.
  test('one event of each kind in a row', () => {
    const { stream } = joined([whole]);
    expect(eventsIn(stream)).toBe(left);
    expect(said(stream)).toEqual(said(mendedWhole(whole)));
  });

  // Guards: how the bytes are cut changes nothing, nor how lines end.
  test.each(drawn('ways to cut', [1, 2, 3, 5, 7, 11, 16, 64, 1_000], 4))('in parts of %s characters', (size) => {
    for (const ended of [whole, whole.replaceAll('\n', '\r\n'), whole.replaceAll('\n', '\r')]) {
      const { stream, heard } = joined(ended.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []);
      expect(said(stream.replace(/\r\n?/g, '\n'))).toEqual(said(mendedWhole(whole)));
      expect(heardOf(heard, 'text')).toBe(TEXTS[name]);
    }
  });
});

// Guards: words are told with the part that ends their event, not later.
test('tells words as they come', () => {
  const heard: string[] = [];
  const { take } = joining(({ text }) => void heard.push(text))();
  const [first, second] = [chat({ content: 'a' }), chat({ content: 'b' })];
  take(first.slice(0, -1));
  expect(heard).toEqual([]);
  take(first.slice(-1));
  expect(heard).toEqual(['a']);
  take(second);
  expect(heard).toEqual(['a', 'b']);
});

/** Texts that look like what is around them, or are written in more than one way. */
const DIFFICULT = [
  'a',
  '"',
  '\\',
  '\\"',
  'é',
  '\u2028',
  '\n\n',
  'data: {}',
  '","content":"',
  '😀',
  'm',
  'c',
  'content',
  '',
  ' ',
];
const escaped = (event: string): string =>
  event.replace(/[^\n -~]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);

// Guards: an event that is like the one before is read by comparing what is around its text. That is never taken for another
// text, whatever the texts are, however they are written, and however alike the events look.
test.each(DIFFICULT)('is not misled by %j', (text) => {
  for (const write of [(event: string) => event, escaped, (event: string) => event.replace(/(?<!\\)":/g, '": ')]) {
    const events = [text, ...DIFFICULT, text, text].flatMap((content, at) => [
      chat({ content }),
      chat({ reasoning_content: content }),
      chat({ content }),
      chat({ content }, { model: content }),
      block(at % 2, { type: 'text_delta', text: content }),
      block(0, { type: 'text_delta', text: content }),
      gemini({ text: content }, { index: at % 2 }, at),
      gemini({ text: content, thought: true }),
      words(content, { sequence_number: at }),
      words(content, { item_id: content }),
    ]);
    const stream = events.map(write).join('');
    const { stream: ours, heard } = joined([stream]);
    expect(said(ours)).toEqual(said(stream));
    expect(heardOf(heard, 'text')).toBe([text, ...DIFFICULT, text, text].map((each) => each.repeat(8)).join(''));
  }
});

// Guards: a server may write one line of many megabytes; no pattern runs out of stack over it.
test.each(['data: ', 'data: {"choices":[{"delta":{"content":"', 'event: ', ': ', 'data: {"a":1,"obfuscation":"'])(
  'reads a line of 40 MB: %s',
  (begin) => {
    const line = begin + 'x'.repeat(40 * 1_024 * 1_024);
    expect(joined([line]).stream).toHaveLength(line.length);
    expect(joined([`${line}"}}]}\n\n`]).stream.length).toBeGreaterThan(line.length);
  },
);

// Guards: an event that comes in many parts is read once, not once for each of them.
test('reads an event of many lines once', () => {
  const parts = Array.from({ length: 20_000 }, () => `data: ${'x'.repeat(1_000)}\n`);
  expect(joined(parts).stream).toBe(parts.join(''));
});

// Guards: a kind that is called like what every object has is one that nobody knows.
test.each(['constructor', '__proto__', 'toString'])('passes on what is of the kind %s', (kind) => {
  const events = [typed({ type: kind, delta: 'a' }), block(0, { type: kind, text: 'a' }), chat({ content: 'b' })];
  const { stream, heard } = joined(events);
  expect(stream).toBe(events.join(''));
  expect(heard).toEqual([{ of: 'text', text: 'b' }]);
});
