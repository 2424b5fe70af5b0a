import { expect, jest, test } from '@jest/globals';

jest.setTimeout(20);
test('passes', () => {
  process.env.TRACE_OF_A_CASE = 'left';
  process.env.HOME = '/elsewhere';
  jest.spyOn(Math, 'random').mockReturnValue(2);
  jest.useFakeTimers();
  expect(Math.random()).toBe(2);
});
test('cannot put another environment in the place of the one of the process', () => {
  expect(() => (process.env = { ...process.env })).toThrow(TypeError);
});
test.skip('is skipped', () => {});
