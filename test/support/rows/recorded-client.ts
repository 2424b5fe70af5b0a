/** Stands in the place of the product's database client while the suite runs (`preload.mjs`). */
import { recordRows } from './record.ts';

export * from '../../../src/platform/db/client.ts';

recordRows(new URL(import.meta.url).searchParams.get('to')!);
