/** Says of files that were uploaded what an agent reads them as. */
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import type { Attachment } from '../../client/src/api.ts';
import { CliError, paint } from './output.ts';

/** @throws CliError where one of them cannot be opened */
export async function formOf(files: readonly string[]): Promise<FormData> {
  const form = new FormData();
  for (const file of files) form.append('files', await openFile(file), basename(file));
  return form;
}

async function openFile(file: string): Promise<Blob> {
  try {
    return await openAsBlob(file);
  } catch {
    throw new CliError(`cannot read ${file}`);
  }
}

/** @returns such as `report.pdf: 20 pages of text`; what cannot be read stands out */
export function describeAttachment({ filename, size_bytes: size, reading }: Attachment): string {
  if (!reading) return `${filename}: ${size} bytes; nobody has looked at it yet`;
  return `${filename}: ${reading.readable ? reading.summary : paint('yellow', reading.summary)}`;
}
