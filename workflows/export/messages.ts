/** The start of an export. It carries names; what is exported goes from the database to the file store. */
import type { ExportRef } from '../../src/resources/exports/model.ts';

/** The server knows the workflow by this type. */
export const EXPORT_WORKSPACE = 'exportWorkspace';

export type ExportInput = ExportRef;
