/** What one stream has yet to send is bounded. */
import { expect, test } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { createMailbox } from '../../../src/resources/live/mailbox.ts';

const FRAME = 'x'.repeat(30);

// Guards: a reader that takes nothing costs no more memory than the bound and one burst. It is told why it is cut off, and
// nothing is kept for it afterwards.
test('drops what nobody takes', async () => {
  const mailbox = createMailbox(100);
  for (let n = 0; n < 3; n++) mailbox.push(FRAME);
  expect(await mailbox.take()).toBe(FRAME.repeat(3));
  for (let n = 0; n < 1_000; n++) {
    mailbox.push(FRAME);
    await turn();
  }
  expect(await mailbox.take()).toMatch(/^event: end\nretry: 1000\ndata: \{"reason":"slow_reader"\}\n\n$/);
  expect(await mailbox.take()).toBeUndefined();
});

// Guards: no reader is cut off because much came at once, before it had time to take any of it. What came is given out in
// pieces, because each stream has a copy of its own of what it is sending.
test('is no judge of those who had no time', async () => {
  const mailbox = createMailbox(100);
  const count = 10_000;
  for (let n = 0; n < count; n++) mailbox.push(FRAME);
  let taken = '';
  while (taken.length < count * FRAME.length) {
    await turn();
    const piece = await mailbox.take();
    expect(String(piece).length).toBeLessThanOrEqual(2 ** 16);
    taken += piece;
  }
  mailbox.push('next');
  expect(await mailbox.take()).toBe('next');
});

// Guards: frames that wait when a stream ends are still given out, and none that come afterwards.
test('gives out what waits at the end', async () => {
  const mailbox = createMailbox();
  const waiting = mailbox.take();
  mailbox.push('first');
  expect(await waiting).toBe('first');
  mailbox.push('last');
  mailbox.close(' word');
  mailbox.push('late');
  expect(await mailbox.take()).toBe('last word');
  expect(await mailbox.take()).toBeUndefined();
});
