/** Stands in the place of the product's database client while the suite runs (`preload.mjs`). */
import { present } from '../../../src/platform/core/present.ts';
import { recordRows } from './record.ts';

export * from '../../../src/platform/db/client.ts';

recordRows(present(new URL(import.meta.url).searchParams.get('to')));
