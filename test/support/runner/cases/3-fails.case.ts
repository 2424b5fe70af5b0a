import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

test('fails by an assertion', () => {
  console.error('printed by a file that fails');
  expect(1).toBe(2);
});
test('fails by a promise', () => Promise.reject(new Error('rejected')));
test('fails by its time', () => new Promise(() => {}), 20);
test('fails by a promise that nobody waits for', async () => {
  void Promise.reject(new Error('unseen'));
  await new Promise((resolve) => setTimeout(resolve, 20));
});
describe('a block', () => {
  beforeAll(() => {
    throw new Error('not prepared');
  });
  test('fails by its preparation', () => {});
});
test('passes', () => {});
afterAll(() => {});
