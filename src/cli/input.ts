/** Reads what a command is given on its line, in a file, or on standard input. */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { CliError } from './output.ts';

/** @param file is the name of a file, or `-` for standard input */
export async function readText(file: string): Promise<string> {
  if (file === '-') return text(process.stdin);
  return readFile(file, 'utf8').catch(() => {
    throw new CliError(`cannot read ${file}`);
  });
}
