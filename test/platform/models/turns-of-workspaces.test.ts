import { expect, test } from '@jest/globals';
import { createTurns } from '../../../src/platform/models/turns-of-workspaces.ts';

// Guards: a workspace that asks for much at once waits behind its own requests, and others do not.
test('workspaces take turns', async () => {
  const turns = createTurns();
  const done: string[] = [];
  const ask = (workspace: string, what: string) =>
    turns.enter(workspace).take(async () => {
      await new Promise(setImmediate);
      done.push(what);
    });
  await Promise.all([...[1, 2, 3, 4].map((n) => ask('a', `a${n}`)), ask('b', 'b1'), ask('b', 'b2'), ask('c', 'c1')]);
  expect(done).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

// Guards against: a place that stays taken after its holder has gone, and a failure that keeps the next from its turn.
test('counts who is there, and goes on after a failure', async () => {
  const turns = createTurns();
  const [first, second, other] = [turns.enter('a'), turns.enter('a'), turns.enter('b')];
  expect([first.before, second.before, other.before]).toEqual([0, 1, 1]);
  for (const each of [first, second]) each.leave();
  expect(turns.enter('b').before).toBe(1);
  const failing = other.take(() => {
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  await expect(other.take(async () => 'yes')).resolves.toBe('yes');
});
