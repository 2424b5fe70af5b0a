/** Reads what a command is given on its line, in a file, or on standard input. */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { messageOf } from '../platform/core/causes.ts';
import { CliError } from './output.ts';

/** @param file is the name of a file, or `-` for standard input */
export async function readText(file: string): Promise<string> {
  if (file === '-') return text(process.stdin);
  return readFile(file, 'utf8').catch(() => {
    throw new CliError(`cannot read ${file}`);
  });
}

/** @param file as of `readText` */
export async function readJson(file: string): Promise<unknown> {
  const given = await readText(file);
  try {
    return JSON.parse(given);
  } catch (error) {
    throw new CliError(`${file === '-' ? 'standard input' : file} is not JSON: ${messageOf(error)}`);
  }
}
