import { expect, test } from '@jest/globals';
import { createActivitySlots, slotWait } from '../../../src/platform/temporal/activity-slots.ts';

const turn = () => new Promise(setImmediate);

/** Activities on one worker. Each asks for its slot first, as model calls do, and is woken under its own name. */
function workerOf(total: number) {
  const slots = createActivitySlots(total);
  const atWork = new Map<string, () => void>();
  const woken: string[] = [];
  const gone = new Set<string>();
  const wake = async (id: string) => {
    if (gone.has(id)) throw new Error('its workflow is gone');
    woken.push(id);
  };
  const begin = (workspace: string, id: string) =>
    slots.hold(workspace, async () => {
      if (slotWait(1, { id, wake: () => wake(id), waitsLong() {} })) return 'yielded';
      await new Promise<void>((resolve) => atWork.set(id, resolve));
      atWork.delete(id);
      return 'done';
    });
  return {
    slots,
    woken,
    gone,
    begin,
    working: () => [...atWork.keys()],
    async end(id: string) {
      atWork.get(id)?.();
      await turn();
    },
    beginAll: (workspace: string, count: number) =>
      Array.from({ length: count }, (_, n) => begin(workspace, `${workspace}${n}`)),
  };
}

// Guards: slow calls of some workspaces leave slots of the worker to the next one.
test.each([
  [1, [5]],
  [2, [5, 3]],
])('%i busy workspaces leave slots free', async (busy, shares) => {
  const { beginAll, working, begin } = workerOf(10);
  for (const workspace of ['a', 'b'].slice(0, busy)) void Promise.all(beginAll(workspace, 9));
  await turn();
  expect(['a', 'b'].slice(0, busy).map((w) => working().filter((id) => id.startsWith(w)).length)).toEqual(shares);
  void begin('next', 'next');
  await turn();
  expect(working()).toContain('next');
});

// Guards: a run that gave its slot back is woken when there is a slot for it, those that came first before others.
test('wakes those who wait', async () => {
  const { beginAll, begin, working, woken, end, gone } = workerOf(4);
  const first = beginAll('a', 5);
  await turn();
  expect(working()).toEqual(['a0', 'a1']);
  expect(await Promise.all(first.slice(2))).toEqual(['yielded', 'yielded', 'yielded']);
  gone.add('a2');
  await end('a0');
  await turn();
  // The first one's workflow has ended meanwhile, so the next one is woken.
  expect(woken).toEqual(['a3']);
  // The slot is kept for the one that was woken.
  expect(await begin('a', 'late')).toBe('yielded');
  void begin('a', 'a3');
  await turn();
  expect(working()).toEqual(['a1', 'a3']);
  await end('a1');
  expect(woken).toEqual(['a3', 'a4']);
});

// Guards: a worker with one slot works, and work of the deployment itself is never sent away.
test('the last slot is for whoever comes', async () => {
  const { begin, working } = workerOf(1);
  void begin('a', 'only');
  const own = workerOf(2);
  void Promise.all(own.beginAll('', 2));
  await turn();
  expect([...working(), ...own.working()]).toEqual(['only', '0', '1']);
});

/** Activities that come again by a timer, as tool calls and deliveries do. */
const asks = (slots: ReturnType<typeof workerOf>['slots'], workspace: string, attempt = 1) =>
  slots.hold(workspace, async () => slotWait(attempt));

// Guards: many who come again by a timer come no more often than the worker can look at them.
test('waits grow with those who wait', async () => {
  const { slots, beginAll } = workerOf(2);
  void Promise.all(beginAll('a', 1));
  await turn();
  const waits = await Promise.all(Array.from({ length: 100 }, () => asks(slots, 'a')));
  expect(new Set(waits.map((wait) => wait?.slotWaitMs)).size).toBe(100);
  expect(await asks(slots, 'b')).toBeUndefined();
});

// Guards against: retries, which would take every slot of the worker, and attempts that start again at one.
test('a retry gives its slot back too, and is told how many attempts were made', async () => {
  const { slots, beginAll } = workerOf(2);
  void Promise.all(beginAll('a', 1));
  await turn();
  expect(await asks(slots, 'a', 3)).toMatchObject({ made: 2 });
});

// Guards against: tool calls that get no slot for as long as a run waits for one, because each free slot is kept for it.
test('those who are woken leave slots to those who come by a timer', async () => {
  const { slots, beginAll, begin, end, working, woken } = workerOf(4);
  void Promise.all(beginAll('a', 4));
  await turn();
  await end('a0');
  expect(woken).toEqual(['a2']);
  let done = () => {};
  const tool = slots.hold('a', async () => {
    if (slotWait(1)) return 'yielded';
    await new Promise<void>((resolve) => (done = resolve));
    return 'done';
  });
  // The run that was woken finds its slot taken, and is the first one that is woken next.
  expect(await begin('a', 'a2')).toBe('yielded');
  done();
  expect(await tool).toBe('done');
  await turn();
  expect(woken).toEqual(['a2', 'a2']);
  void begin('a', 'a2');
  await turn();
  expect(working()).toEqual(['a1', 'a2']);
});

// Guards: who waits for a slot of a worker that ends is not left to its own timer, and waits there no more.
test('a worker that ends wakes all who wait, those of other workspaces too', async () => {
  const { slots, beginAll, begin, woken, gone } = workerOf(4);
  for (const workspace of ['a', 'b']) void Promise.all(beginAll(workspace, 4));
  await turn();
  gone.add('a3');
  expect(slots.use()).toEqual({ taken: 3, free: 1, waiting: 5 });
  await slots.leave();
  expect([...woken].sort()).toEqual(['a2', 'b1', 'b2', 'b3']);
  expect(slots.use()).toEqual({ taken: 3, free: 1, waiting: 0 });
  expect(await begin('a', 'late')).toBe('yielded');
  await slots.leave();
  expect(woken).toHaveLength(4);
});
