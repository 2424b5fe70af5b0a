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
  expect(writer.text()).toBe('Once upon a time');
  expect(shown).toBe('Once upon\na line\nOnce upon a time');
  writer.add({ offset: 0, text: 'Another' });
  expect(shown).toBe('Once upon\na line\nOnce upon a time\nAnother');
  expect(writer.text()).toBe('Another');
});
