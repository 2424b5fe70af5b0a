/** Words and rules of attachments. */

/** Files lie beside one of these. */
export interface AttachmentOwner {
  kind: 'project' | 'scheduled_job' | 'chat_thread' | 'upload';
  /** The id; of a job it is its number. An upload is what waits for the project that is made with it. */
  id: string;
}

export const MAX_FILES = 10;
/** Limits one upload, all its files together. */
export const MAX_UPLOAD_BYTES = 25 * 1024 * 1024;
const MAX_FILENAME = 200;

/**
 * These characters reverse or hide parts of a name where it is shown: control characters, and those that set direction.
 */
const UNSHOWABLE = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** @returns the last part of a path, as a name that can be shown and saved; a long one keeps its extension */
export function attachmentName(given: string): string {
  const name = (given.toWellFormed().split(/[/\\]/).at(-1) ?? '').replace(UNSHOWABLE, '').trim();
  if (/^\.*$/.test(name)) return 'file';
  if (name.length <= MAX_FILENAME) return name;
  const extension = /\.\w{1,10}$/.exec(name)?.[0] ?? '';
  const stem = name.slice(0, MAX_FILENAME - extension.length);
  // The cut may have left half a character.
  return (stem.isWellFormed() ? stem : stem.slice(0, -1)) + extension;
}
