/** Few files are in memory at once, and nobody waits for a place for longer than for an answer. */
import { expect, test } from '@jest/globals';
import { inTurn } from '../../../src/platform/documents/in-turn.ts';
import { forWorkspace } from '../../../src/platform/fairness/workspace-context.ts';

// Guards against: many uploads at once, each of which holds its file while it waits for the others.
test('few are at work at once, and who gives up is not begun', async () => {
  let [atOnce, most, begun] = [0, 0, 0];
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const work = async () => {
    begun += 1;
    most = Math.max(most, (atOnce += 1));
    await released;
    atOnce -= 1;
    return 'read';
  };
  const first = Array.from({ length: 10 }, () => inTurn(work));
  const reason = new Error('gone');
  const controller = new AbortController();
  const given = inTurn(work, controller.signal);
  controller.abort(reason);
  await expect(given).rejects.toBe(reason);
  release();
  expect(await Promise.all(first)).toEqual(Array.from({ length: 10 }, () => 'read'));
  expect(await inTurn(work, new AbortController().signal)).toBe('read');
  // Work of one workspace, or of none, has half of the slots.
  expect({ most, begun }).toEqual({ most: 2, begun: 11 });
  await expect(inTurn(() => Promise.reject(reason))).rejects.toBe(reason);
});

// Guards: the files of one workspace hold up no file of another.
test('one workspace leaves slots to another', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const many = forWorkspace('busy', () => Array.from({ length: 8 }, () => inTurn(() => promise)));
  await expect(forWorkspace('other', () => inTurn(async () => 'read'))).resolves.toBe('read');
  resolve('read');
  await Promise.all(many);
});
