/**
 * Gives tests what they import from `@jest/globals`. Modules outlive a test file, so each name stands for the one of
 * the file that runs now.
 */
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

let current;
const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });

export function setGlobals(globals) {
  current = globals;
}

export function forgetMocks() {
  mocker.restoreAllMocks();
  timers.dispose();
}

const standIn = (name) =>
  new Proxy(() => {}, {
    apply: (_target, _this, given) => current[name](...given),
    get: (_target, key) => current[name][key],
  });

export const [afterAll, afterEach, beforeAll, beforeEach, describe, expect, test] = [
  ...['afterAll', 'afterEach', 'beforeAll', 'beforeEach', 'describe', 'expect', 'test'],
].map(standIn);

export const jest = {
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  setTimeout: (ms) => void (globalThis[Symbol.for('TEST_TIMEOUT_SYMBOL')] = ms),
  useFakeTimers: (options) => timers.useFakeTimers(options),
  useRealTimers: () => timers.useRealTimers(),
  advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
};
