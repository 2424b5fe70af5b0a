/** Reads what a command is given on its line, in a file, or on standard input. */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { messageOf } from '../platform/core/causes.ts';
import { isRecord } from '../platform/core/record.ts';
import { CliError } from './output.ts';

/** @param file is the name of a file, or `-` for standard input */
export async function readText(file: string): Promise<string> {
  if (file === '-') return text(process.stdin);
  return readFile(file, 'utf8').catch(() => {
    throw new CliError(`cannot read ${file}`);
  });
}

/**
 * Reads the fields of a thing, in YAML or in JSON, which is YAML too.
 * @param file as of `readText`
 */
export async function readFields(file: string): Promise<Record<string, unknown>> {
  const [given, { parse }] = await Promise.all([readText(file), import('yaml')]);
  const name = file === '-' ? 'standard input' : file;
  let fields: unknown;
  try {
    fields = parse(given);
  } catch (error) {
    throw new CliError(`${name} is neither JSON nor YAML: ${messageOf(error).split(':\n', 1).join()}`);
  }
  if (!isRecord(fields)) throw new CliError(`${name} has no fields: it is to be an object in JSON or YAML`);
  return fields;
}
