/**
 * Keeps what a test file prints, so that the terminal shows it only if the file fails (`progress.mjs`). Programs that tests start,
 * and native code, write to the worker's own streams, which the reporter sends to `.cache/test-output.log`.
 */

/** A result crosses to another process as JSON, so a file that prints without end keeps its last part. */
const MAX_CHARACTERS = 200_000;

/** Undefined while no test file runs. */
let printed;

// Once a process: others replace `write` as well, and keep the one that they found (`test/support/cli/here.ts`).
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream);
  stream.write = (chunk, encoding, callback) => {
    if (printed === undefined) return write(chunk, encoding, callback);
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    printed = `${printed}${text}`.slice(-MAX_CHARACTERS);
    const done = typeof encoding === 'function' ? encoding : callback;
    if (done) process.nextTick(done);
    return true;
  };
}

export function startCapture() {
  printed = '';
}

/** @returns what was printed since it started */
export function endCapture() {
  const text = printed ?? '';
  printed = undefined;
  return text;
}
