/** Lines of JSON, each an object. */
import { parseJson } from '../../../platform/core/json.ts';
import { isRecord } from '../../../platform/core/record.ts';
import { ArchiveError } from './refused.ts';

export type Line = Readonly<Record<string, unknown>>;

/** @throws ArchiveError archive_refused */
export function linesIn(bytes: Buffer, name: string): Line[] {
  const text = bytes.toString();
  return text.split('\n').flatMap((line, place) => {
    if (line === '') return [];
    const value = read(line);
    if (!isRecord(value)) throw new ArchiveError('archive_refused', `${name}: line ${place + 1} is no object of JSON`);
    return [value];
  });
}

function read(line: string): unknown {
  try {
    return parseJson(line);
  } catch {
    return undefined;
  }
}
