/** What an entry of the memory is called. */
import type { MemoryEntryListRow } from '../../api/types.ts';

export const nameOf = ({ name, slug, type, id }: Pick<MemoryEntryListRow, 'name' | 'slug' | 'type' | 'id'>): string =>
  name ?? slug ?? `${type} ${id}`;
