/**
 * Runs a test file as plain Node would: modules are Node's own, TypeScript is stripped by Node, and modules that one
 * file has loaded are there for the next file in the same process. Jest's default loads every module anew for each
 * file, in a context of its own, which took half of the time of all tests. Everything else of a test (order, hooks,
 * timeouts, unhandled rejections, matchers, reports) is done by jest-circus as usual.
 */
import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import circus from 'jest-circus/runner';
import './one-workflow-thread.mjs';
import { cpuSecondsOf } from './cpu.mjs';
import { forgetMocks, setGlobals } from './globals.mjs';
import { endCapture, startCapture } from './output.mjs';

const require = createRequire(import.meta.url);

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals'
      ? { url: new URL('globals.mjs', import.meta.url).href, shortCircuit: true }
      : next(specifier, context),
});

// What a test changes in it is undone below. Node itself, `os.tmpdir()` for one, reads the environment and not an object
// that stands in its place, so a file that put one there would have files after it ask two different ones.
Object.defineProperty(process, 'env', { value: process.env, writable: false, configurable: true });

if (process.send) endAtOnce();

/** Is a `testRunner` for Jest. */
export default async function run(globalConfig, config, environment, runtime, testPath, sendMessageToJest) {
  const env = { ...process.env };
  const native = Object.assign(Object.create(runtime), {
    requireInternalModule: loadAnew,
    requireModule: require,
    setGlobalsForRuntime: setGlobals,
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (path) => import(pathToFileURL(path).href),
  });
  const before = cpuSecondsOf('self');
  startCapture();
  try {
    const result = await circus.default(globalConfig, config, environment, native, testPath, sendMessageToJest);
    const cpuSeconds = before === undefined ? undefined : cpuSecondsOf('self') - before;
    return { ...result, cpuSeconds, output: endCapture() };
  } finally {
    endCapture();
    forgetMocks();
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
  }
}

/**
 * Resets the state of jest-circus, which holds the tests that a file declares and its time limit, so that each file
 * begins with none.
 */
function loadAnew(path) {
  for (const name of ['EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL']) delete globalThis[Symbol.for(name)];
  delete require.cache[path];
  return require(path);
}

/**
 * Ends this worker with SIGKILL once the handlers of 'exit' ran. Node would first take apart the heap of each thread of workflows,
 * and would wait for what a test left open. By then all results have been sent.
 */
function endAtOnce() {
  process.reallyExit = () => process.kill(process.pid, 'SIGKILL');
  process.on('removeListener', (name) => {
    // Jest stops listening when there are no more files for this worker.
    if (name === 'message' && process.listenerCount('message') === 0) setImmediate(() => process.exit());
  });
}
