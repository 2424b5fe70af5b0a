import { expect, test } from '@jest/globals';
import type { RunEvent } from '../../client/src/api.ts';
import { createTextWriter } from '../../src/cli/following.ts';
import { formatEvent } from '../../src/cli/timeline.ts';

// Guards: a person who follows a run sees where an answer is needed, with an address that can be opened.
test('shows the whole address of a page that waits for a person', () => {
  const url = `https://${'long-name.'.repeat(10)}example/miniapps/${'t'.repeat(43)}`;
  const event: RunEvent = {
    id: 1,
    ts: '2026-11-21T12:00:01.250Z',
    event_type: 'tool_call',
    agent: 'asker',
    transport: null,
    status: 'waiting',
    duration_ms: null,
    cost_usd: null,
    payload: { tool: 'ask_human', call_id: 'call_1_0', page_id: 'an-id', url },
  };
  expect(formatEvent(event)).toContain(`ask_human waits for a person: ${url}`);
});

// Guards: who follows a run is told why a model or a tool is not the one that was asked for, and of answers that are none yet.
test.each([
  [
    'model_resolved',
    { model: 'gpt-6', rule: 'agent_default_fallback', effort: 'high' },
    /gpt-6 \(agent_default_fallback\); effort high; not the agent’s own model/,
  ],
  ['model_resolved', { model: 'gpt-6', rule: 'agent_default' }, /gpt-6 \(agent_default\)$/],
  [
    'model_failover',
    { turn: 2, from: 'claude-x', to: 'gpt-6', code: 'model_unavailable', error: 'It is overloaded.' },
    /asks gpt-6 instead of claude-x: It is overloaded\.$/,
  ],
  [
    'model_failover',
    { turn: 2, from: 'a', to: 'b', code: 'model_unavailable' },
    /asks b instead of a: model unavailable$/,
  ],
  [
    'claude_request',
    { turn: 1, waits_for: 'share_of_model_calls', since: '2026-11-21T12:00:00.000Z' },
    /turn 1 waits for its workspace's share of model calls$/,
  ],
  ['claude_request', { turn: 1, waits_for: 'a_thing_to_come' }, /turn 1 waits for a thing to come$/],
  [
    'context_loaded',
    {
      agent: 'shopper',
      tools: ['one'],
      tools_withheld: ['mcp.shop.bad', 'gone'],
      withheld_because: { 'mcp.shop.bad': 'the tool cannot be used: '.padEnd(200, 'x') },
      adapted_because: { one: 'the schema refers to itself' },
    },
    /shopper, 1 tools; withheld: mcp\.shop\.bad \(.*x\); withheld: gone; told in another form: one \(the schema refers to itself\)$/,
  ],
  [
    'claude_iteration',
    {
      turn: 1,
      input_tokens: 9,
      output_tokens: 2,
      finish_reason: 'stop',
      text_preview: '{}',
      output_fault: 'output is {}',
      tool_calls: 0,
    },
    /2 out; not of the schema: output is \{\}$/,
  ],
  [
    'claude_iteration',
    { turn: 1, input_tokens: 9, output_tokens: 2, finish_reason: 'length', text_preview: 'Once', tool_calls: 0 },
    /2 out; cut off: Once$/,
  ],
  [
    'claude_iteration',
    { turn: 1, input_tokens: 9, output_tokens: 2, finish_reason: 'length', text_preview: 'Once', tool_calls: 1 },
    /2 out Once$/,
  ],
] as const)('shows %s %j', (event_type, payload, shown) => {
  const plain = { agent: null, transport: null, status: null, duration_ms: null, cost_usd: null };
  const event: RunEvent = { id: 1, ts: '2026-11-21T12:00:01.250Z', ...plain, event_type, payload };
  expect(formatEvent(event)).toMatch(shown);
});

// Guards: a text that is read along stands on the terminal once, whatever is printed between, and anew where it begins anew.
test('writes a text in the pieces in which it comes', () => {
  let shown = '';
  const writer = createTextWriter((text) => (shown += text));
  writer.add({ offset: 0, text: 'Once' });
  writer.add({ offset: 4, text: ' upon' });
  expect(shown).toBe('Once upon');
  writer.endLine();
  writer.endLine();
  shown += 'a line\n';
  writer.add({ offset: 9, text: ' a time' });
  expect(writer.hasWritten('Once upon a time')).toBe(true);
  expect(writer.hasWritten('Once upon a time, a')).toBe(false);
  expect(shown).toBe('Once upon\na line\nOnce upon a time');
  writer.add({ offset: 0, text: 'Another' });
  expect(shown).toBe('Once upon\na line\nOnce upon a time\nAnother');
  expect(writer.hasWritten('Another')).toBe(true);
  // An answer that was cut off came as two texts.
  expect(writer.hasWritten('Once upon a timeAnother')).toBe(true);
  expect(writer.hasWritten('Once')).toBe(false);
});
