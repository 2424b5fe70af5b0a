/** All queries on the memory, bound to a database. */
import { bindQueries, type Bound } from '../../../platform/db/bind.ts';
import type { Database } from '../../../platform/db/client.ts';
import { listLinks, lockGraph, resolveSlug, writeEdges } from './edges.ts';
import {
  countEntries,
  deleteEntries,
  findEntry,
  findByCall,
  findIds,
  findSlugs,
  insertEntry,
  listInFiles,
  listEntries,
  updateEntry,
  verifyEntry,
} from './entries.ts';
import { readGraph, readStats } from './graph.ts';
import { listAlwaysLoaded, recallEntries, searchForAgent } from './recall.ts';
import { searchEntries } from './search.ts';
import { searchEntriesByWords, searchForAgentByWords } from './by-words.ts';
import { areVectorsOf } from './vectors.ts';
import { supersedeEntry } from './supersede.ts';

const QUERIES = {
  lockGraph,
  writeEdges,
  resolveSlug,
  listLinks,
  countEntries,
  listEntries,
  findEntry,
  findByCall,
  findIds,
  findSlugs,
  insertEntry,
  listInFiles,
  updateEntry,
  deleteEntries,
  verifyEntry,
  supersedeEntry,
  areVectorsOf,
  searchEntries,
  searchEntriesByWords,
  searchForAgent,
  searchForAgentByWords,
  listAlwaysLoaded,
  recallEntries,
  readGraph,
  readStats,
};

export type MemoryStore = Bound<typeof QUERIES>;
export const createMemoryStore = (db: Database): MemoryStore => bindQueries(db, QUERIES);
