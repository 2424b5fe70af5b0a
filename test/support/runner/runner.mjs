/**
 * Runs a test file as plain Node would: modules are Node's own, TypeScript is stripped by Node, and what one file has loaded
 * is there for the next one in the same process. Jest's default loads every module anew for each file, in a context of its
 * own: that was half of the time of all tests. What makes a test a test (order, hooks, timeouts, unhandled rejections,
 * matchers, reports) is jest-circus, as ever.
 */
import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import circus from 'jest-circus/runner';
import { forgetMocks, setGlobals } from './globals.mjs';

const require = createRequire(import.meta.url);

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals'
      ? { url: new URL('globals.mjs', import.meta.url).href, shortCircuit: true }
      : next(specifier, context),
});

// Nothing of the tests is under way any more. Node would take the heap and its native parts apart bit by bit, for longer on a
// busy machine than Jest waits for a process to end, and Jest would say that a test leaks.
if (process.send) process.once('exit', () => process.exit());

/** A `testRunner` of Jest's. */
export default async function run(globalConfig, config, environment, runtime, testPath, sendMessageToJest) {
  const env = { ...process.env };
  const native = Object.assign(Object.create(runtime), {
    requireInternalModule: loadAnew,
    requireModule: require,
    setGlobalsForRuntime: setGlobals,
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (path) => import(pathToFileURL(path).href),
  });
  try {
    return await circus.default(globalConfig, config, environment, native, testPath, sendMessageToJest);
  } finally {
    forgetMocks();
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
  }
}

/** The tests that a file declares, and its time limit, are state of jest-circus: each file begins with none. */
function loadAnew(path) {
  for (const name of ['EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL']) delete globalThis[Symbol.for(name)];
  delete require.cache[path];
  return require(path);
}
