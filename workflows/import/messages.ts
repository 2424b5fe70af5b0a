/** The start of an import. It carries names; what is brought goes from the file store to the database. */
import type { ImportRef } from '../../src/resources/imports/model.ts';

/** The server knows the workflow by this type. */
export const IMPORT_WORKSPACE = 'importWorkspace';

export type ImportInput = ImportRef;
