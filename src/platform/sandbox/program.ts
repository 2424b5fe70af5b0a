/** What remains of a program that ran outside this process: how it ended, and what it wrote, up to a limit. */
import { storableText } from '../core/storable.ts';

export interface ProgramResult {
  /** 128 and more means that a signal ended it. */
  exitCode: number;
  stdout: string;
  stderr: string;
}

export interface ProgramRequest {
  stdin: string;
  timeoutMs: number;
  /** The workspace that the program counts for when places are short. */
  owner: string;
  signal: AbortSignal;
}

const MAX_OUTPUT_BYTES = 1_024 * 1_024;

/** Collects what is written to both streams, and calls `onTooMuch` beyond the limit. */
export const createOutput = (onTooMuch: () => void) => {
  const written = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let size = 0;
  const textOf = (name: keyof typeof written) => storableText(Buffer.concat(written[name]).toString('utf8'));
  return {
    add(name: keyof typeof written, chunk: Buffer): void {
      if (size > MAX_OUTPUT_BYTES) return;
      size += chunk.length;
      if (size > MAX_OUTPUT_BYTES) onTooMuch();
      else written[name].push(chunk);
    },
    texts: () => ({ stdout: textOf('stdout'), stderr: textOf('stderr') }),
  };
};

export const tooMuchOutput = `it wrote more than ${MAX_OUTPUT_BYTES / 1_024} KB`;
export const tooLong = (timeoutMs: number): string => `it was not done within ${timeoutMs / 1_000} seconds`;
export const tooLarge = (memoryBytes: number): string =>
  `it used more than ${memoryBytes / 1_024 / 1_024} MB of memory`;
