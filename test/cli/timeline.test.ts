import { expect, test } from '@jest/globals';
import { formatEvent, type RunEvent } from '../../src/cli/timeline.ts';

// Guards: whoever follows a run sees where a person is to answer, with an address that can be opened.
test('shows the whole address of a page that waits for a person', () => {
  const url = `https://${'long-name.'.repeat(10)}example/miniapps/${'t'.repeat(43)}`;
  const event: RunEvent = {
    id: 1,
    ts: '2026-11-21T12:00:01.250Z',
    event_type: 'tool_call',
    agent: 'asker',
    status: 'waiting',
    duration_ms: null,
    cost_usd: null,
    payload: { tool: 'ask_human', call_id: 'call_1_0', page_id: 'an-id', url },
  };
  expect(formatEvent(event)).toContain(`ask_human waits for a person: ${url}`);
});
