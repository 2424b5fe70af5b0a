import { expect, test } from '@jest/globals';
import { createFairSlots, SlotsFullError } from '../../../src/platform/fairness/fair-slots.ts';

const turn = () => new Promise(setImmediate);

/** Work of several workspaces in the same slots: `begun` lists what has its slot, `end` lets one of it go. */
function workIn(slots: ReturnType<typeof createFairSlots>) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    ask: (workspace: string, name: string, signal?: AbortSignal) =>
      slots.run(
        workspace,
        () => {
          begun.push(name);
          return new Promise<void>((resolve) => ends.set(name, resolve));
        },
        signal,
      ),
    async end(name: string) {
      ends.get(name)?.();
      await turn();
    },
  };
}

// Guards: however many workspaces ask for more than there is, the next one finds a free slot.
test.each([1, 2, 3])('%i busy workspaces leave slots free', async (busy) => {
  const { begun, ask } = workIn(createFairSlots(12));
  for (let n = 0; n < busy; n++) for (let i = 0; i < 20; i++) void ask(`busy-${n}`, `busy-${n}`);
  void ask('next', 'next');
  await turn();
  expect(begun).toContain('next');
  for (let n = 0; n < busy; n++) expect(begun.filter((name) => name === `busy-${n}`).length).toBeGreaterThan(0);
});

// Guards: a slot that becomes free goes to the workspaces in turn, not to the oldest backlog.
test('workspaces take turns at a slot', async () => {
  const { begun, ask, end } = workIn(createFairSlots(1));
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void ask(name.slice(0, 1), name);
  for (let at = 0; at < 6; at++) {
    await turn();
    await end(begun[at] ?? '');
  }
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});

// Guards: one workspace cannot fill the queue, which would have the others refused.
test('one workspace leaves room in the queue', async () => {
  const { begun, ask, end } = workIn(createFairSlots(1, 10));
  void ask('a', 'first');
  const results = Array.from({ length: 20 }, () => ask('a', 'more').catch((error: unknown) => error));
  const other = ask('b', 'other');
  expect(await Promise.race([...results, turn()])).toBeInstanceOf(SlotsFullError);
  await end('first');
  await end('more');
  expect(begun).toContain('other');
  await end('other');
  await other;
});

// Guards: who gives up while it waits takes no slot, and a failure gives its slot back.
test('gives up, and goes on after a failure', async () => {
  const slots = createFairSlots(1);
  const { ask, end, begun } = workIn(slots);
  void ask('a', 'first');
  const controller = new AbortController();
  const given = ask('b', 'given up', controller.signal);
  controller.abort(new Error('gone'));
  await expect(given).rejects.toThrow('gone');
  const failing = slots.run('b', () => Promise.reject(new Error('no')));
  await Promise.all([end('first'), expect(failing).rejects.toThrow('no')]);
  await expect(slots.run('b', async () => 'yes')).resolves.toBe('yes');
  expect(begun).toEqual(['first']);
});
