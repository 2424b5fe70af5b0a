/**
 * Records what the product's raw SQL gives: of each place that runs a statement the columns with the types of their values,
 * each written as a type of TypeScript, for `check.ts` to hold against the type that the place says its rows have. Of
 * statements that write it records the text, for `stale.ts`.
 */
import { appendFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { threadId } from 'node:worker_threads';
import { is, noopDecoder, SQL, StringChunk } from 'drizzle-orm';
import { NodePgSession } from 'drizzle-orm/node-postgres';
import { PgColumn, PgDatabase } from 'drizzle-orm/pg-core';
import type pg from 'pg';
import { present } from '../../../src/platform/core/present.ts';
import { describeValue } from './describe.ts';
import type { Writing } from './stale.ts';

/** One thing learnt, as one line of JSON. */
export interface Fact {
  /** `src/x/store.ts:12:8`, where `rows` is called; of a typed fragment its text between the parameters. */
  place: string;
  column: string;
  /** Postgres' type; 0 of a fragment, whose column is the builder's. */
  oid: number;
  /** Of a value; undefined of the column itself, which may never have had one. */
  type?: string;
}

/** Where a fragment's parameters were. */
export const HOLE = '\u0000';
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Ends of the names of files, by what is in them. */
export const FILES = { facts: '.rows.jsonl', writings: '.writings.jsonl' } as const;
const WRITES = /\b(insert into|update|delete from)\b/i;
/** Of one column: so many different texts are no enumeration, and so many different objects show what there is to see. */
const MAX_TYPES = 100;
/** Rows are alike: after so many values of a column no more objects are taken apart. */
const MAX_OBJECTS = 400;

/** From now on, in this process; into files of `folder`. */
export function recordRows(folder: string): void {
  const fileOf = (kind: keyof typeof FILES) => join(folder, `${process.pid}-${threadId}${FILES[kind]}`);
  const columns = new Map<string, Column>();
  const texts = new Set<string>();
  let news: Fact[] = [];

  const columnOf = (place: string, column: string, oid: number): Column => {
    const key = `${place} ${oid} ${column}`;
    const known = columns.get(key);
    if (known) return known;
    const made = new Column((type) => news.push({ place, column, oid, type }));
    columns.set(key, made);
    news.push({ place, column, oid });
    return made;
  };
  const write = () => {
    if (news.length > 0) appendFileSync(fileOf('facts'), news.map((fact) => `${JSON.stringify(fact)}\n`).join(''));
    news = [];
  };

  const noteWriting = (writing: Writing) => {
    if (!WRITES.test(writing.text) || texts.has(writing.text)) return;
    texts.add(writing.text);
    appendFileSync(fileOf('writings'), `${JSON.stringify(writing)}\n`);
  };

  const { execute } = PgDatabase.prototype;
  PgDatabase.prototype.execute = function (this: PgDatabase<never>, query) {
    const raw = execute.call(this, query);
    const place = placeOfCaller(PgDatabase.prototype.execute);
    if (place === undefined) return raw;
    noteWriting({ place, text: raw.getQuery().sql });
    const run = raw.execute as () => Promise<pg.QueryResult<Record<string, unknown>>>;
    raw.execute = async () => {
      const result = await run();
      for (const { name, dataTypeID } of result.fields) {
        const column = columnOf(place, name, dataTypeID);
        for (const row of result.rows) column.see(row[name]);
      }
      write();
      return result;
    };
    return raw;
  } as typeof execute;

  const { prepareQuery } = NodePgSession.prototype;
  NodePgSession.prototype.prepareQuery = function (this: unknown, ...args: Parameters<typeof prepareQuery>) {
    const prepared = prepareQuery.apply(this as never, args);
    const fragments = (args[1] ?? []).flatMap(({ field, path }) => {
      const fragment = is(field, SQL.Aliased) ? field.sql : field;
      return is(fragment, SQL) && decoderOf(fragment) === noopDecoder ? [{ place: textOf(fragment), path }] : [];
    });
    if (fragments.length === 0) return prepared;
    const run = prepared.execute.bind(prepared);
    prepared.execute = async (...values) => {
      const rows = await run(...values);
      if (!Array.isArray(rows)) return rows;
      for (const { place, path } of fragments) {
        const column = columnOf(place, '', 0);
        for (const row of rows)
          column.see(path.reduce<unknown>((at, name) => (at as Record<string, unknown>)?.[name], row));
      }
      write();
      return rows;
    };
    return prepared;
  } as typeof prepareQuery;
}

class Column {
  readonly #types = new Set<string>();
  readonly #learn: (type: string) => void;
  #objects = 0;

  constructor(learn: (type: string) => void) {
    this.#learn = learn;
  }

  /** @param value undefined where an outer join found nothing to take it from */
  see(value: unknown): void {
    if (value === undefined) return;
    const isObject = typeof value === 'object' && value !== null;
    if (isObject && ++this.#objects > MAX_OBJECTS) return;
    if (typeof value === 'string' && this.#types.has('string')) return;
    const described = describeValue(value);
    if (this.#types.has(described)) return;
    const isTooMuch = this.#types.size >= MAX_TYPES;
    if (isTooMuch && isObject) return;
    const type = isTooMuch && typeof value === 'string' ? 'string' : described;
    this.#types.add(type);
    this.#learn(type);
  }
}

/** @returns undefined for places that are not the product's */
function placeOfCaller(below: (...args: never[]) => unknown): string | undefined {
  const { stackTraceLimit, prepareStackTrace } = Error;
  Error.stackTraceLimit = 15;
  Error.prepareStackTrace = (_, sites) => sites;
  const holder: { stack?: NodeJS.CallSite[] } = {};
  Error.captureStackTrace(holder, below);
  const sites = holder.stack ?? [];
  Object.assign(Error, { stackTraceLimit, prepareStackTrace });
  const site = sites.find((each) => {
    const name = each.getFileName();
    return (
      name?.startsWith('file:') &&
      !/\/node_modules\/|\/src\/platform\/(db\/client|observability\/spans)\.ts$/.test(name)
    );
  });
  if (!site) return undefined;
  const name = relative(ROOT, fileURLToPath(present(site.getFileName())))
    .split(sep)
    .join('/');
  return /^(src|activities)\//.test(name) ? `${name}:${site.getLineNumber()}:${site.getColumnNumber()}` : undefined;
}

const decoderOf = (fragment: SQL): unknown => Reflect.get(fragment, 'decoder');

/** As it stands in the source, with a mark for each parameter, and the names of columns. */
const textOf = ({ queryChunks }: SQL): string =>
  queryChunks
    .map((chunk) => {
      if (is(chunk, StringChunk)) return chunk.value.join('');
      return is(chunk, PgColumn) ? HOLE + camelCase(chunk.name) : HOLE;
    })
    .join('');

/** Of a column's name in the database the one it has in the code. */
const camelCase = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
