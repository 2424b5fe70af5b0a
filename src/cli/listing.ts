/** What every list has: how it is printed, and that it can be watched. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import { openService, outlastingRestarts } from './client.ts';
import { queryOf } from './filters.ts';
import { clearScreen, print, printJson, printTable, type Column } from './output.ts';

export interface ListOptions {
  json?: boolean;
  output?: 'table' | 'wide' | 'json';
  watch?: boolean;
}

/** Shown in a wide table alone. */
type WideColumn<Row> = Column<Row> & { isWide?: true };

export interface Listing<Row> {
  /** On the control plane. */
  path: string;
  query?: Query;
  columns: readonly WideColumn<Row>[];
  /** Is said where there is nothing. */
  empty: string;
  /** Reads it, where that is more than one request for the path with the query. */
  read?: (page: ReadPage, query: Query) => Promise<{ data: Row[] }>;
}

type Query = Readonly<Record<string, string | undefined>>;
type ReadPage = <Reply>(query: Query) => Promise<Reply>;

const EVERY_MS = 2_000;

/** Adds the options that every list has. */
export const asList = (command: Command): Command =>
  command
    .option('--json', 'print JSON')
    .addOption(new Option('-o, --output <form>', 'wide shows more columns').choices(['table', 'wide', 'json']))
    .option('-w, --watch', 'show it again whenever it has changed');

/** @throws CliError */
export async function list<Row>(listing: Listing<Row>, { json, output, watch }: ListOptions): Promise<void> {
  const opened = await openService(process.env);
  const service = watch ? outlastingRestarts(opened) : opened;
  const { path, query = {}, read } = listing;
  const page: ReadPage = (asked) => {
    const text = queryOf(asked).toString();
    return service.controlPlane('GET', `${path}${text && `?${text}`}`);
  };
  const isJson = json || output === 'json';
  let shown: string | undefined;
  do {
    const reply = await (read?.(page, query) ?? page<{ data: Row[] }>(query));
    const now = JSON.stringify(reply);
    if (now !== shown) {
      if (watch && process.stdout.isTTY && !isJson) clearScreen();
      else if (shown !== undefined && !isJson) print();
      if (isJson) printJson(reply, watch ? 0 : 2);
      else {
        const columns = listing.columns.filter(({ isWide }) => !isWide || output === 'wide');
        printTable(reply.data, columns, listing.empty);
      }
      shown = now;
    }
    if (watch) await sleep(EVERY_MS);
  } while (watch);
}
