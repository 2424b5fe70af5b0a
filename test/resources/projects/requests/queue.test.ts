/** Work in turn, by key. */
import { expect, test } from '@jest/globals';
import { createQueue } from '../../../../src/resources/projects/requests/queue.ts';

const gates = () => Promise.withResolvers<void>();

// Guards: commands on one project never overlap and keep their order; those on another project do not wait for them.
test('goes one after another for a key, and beside each other for two', async () => {
  const inTurn = createQueue();
  const [first, second] = [gates(), gates()];
  const seen: string[] = [];
  const work = (name: string, until?: Promise<void>) => async () => {
    seen.push(`${name} begins`);
    await until;
    seen.push(`${name} ends`);
    return name;
  };
  const all = [inTurn('a', work('1', first.promise)), inTurn('a', work('2', second.promise)), inTurn('a', work('3'))];
  expect(await inTurn('b', work('other'))).toBe('other');
  expect(seen).toEqual(['1 begins', 'other begins', 'other ends']);
  second.resolve();
  first.resolve();
  expect(await Promise.all(all)).toEqual(['1', '2', '3']);
  expect(seen.slice(3)).toEqual(['1 ends', '2 begins', '2 ends', '3 begins', '3 ends']);
});

// Guards: a refused command reports its refusal, and the next one gets its turn.
test('goes on after a failure', async () => {
  const inTurn = createQueue();
  const refused = inTurn('a', () => Promise.reject(new Error('refused')));
  const next = inTurn('a', async () => 'done');
  await expect(refused).rejects.toThrow('refused');
  expect(await next).toBe('done');
});
