import { expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';

jest.setTimeout(20);
test('passes', () => {
  console.error('printed by a file that passes');
  process.stdout.write('*** SKIPPED: nothing is proved here about cases: this is one\n');
  execFileSync(process.execPath, ['-e', 'console.log("printed by a program that a test starts")'], {
    stdio: 'inherit',
  });
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
