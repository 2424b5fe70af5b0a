/** The archive is not what an import takes. Its words are for whoever sent it, so they name places and no content. */
import type { ImportFailure } from '../model.ts';

export class ArchiveError extends Error {
  readonly code: ImportFailure;
  constructor(code: Extract<ImportFailure, `archive_${string}`>, message: string) {
    super(message);
    this.code = code;
  }
}
