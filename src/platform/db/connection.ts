/** One connection to Postgres: what it prepares, how long it is waited for, and what the server is told of it. */
import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { withoutPageKeys } from '../core/page-keys.ts';
import { parseStored } from './property-order.ts';
import { isUrgent } from './urgency.ts';

const { JSONB } = pg.types.builtins;
const parseJsonb: (text: string) => unknown = pg.types.getTypeParser(JSONB);
pg.types.setTypeParser(JSONB, (text) => parseStored(text, parseJsonb));

/** One statement may take this long. */
export interface Deadlines {
  /** Limits work that somebody waits for. */
  urgentMs: number;
  otherMs: number;
}

/**
 * So many different texts are prepared on a connection. Beyond it (where a list stands in a text, say) statements go
 * unnamed.
 */
const MAX_PREPARED = 500;
const names = new Map<string, string>();

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_PREPARED) return known;
  const name = createHash('sha1').update(text).digest('base64url');
  names.set(text, name);
  return name;
}

/**
 * Prepares every statement under a name made of its text, so that a connection parses and plans it once. Planning is
 * most of what a short statement costs: on the embedded database this saved two thirds of its time.
 */
export class PreparingClient extends pg.Client {
  // The declared overloads are those of the base class; whatever form a call has, only its config is looked at.
  override query(...args: unknown[]): never {
    const [config, values] = args;
    if (isStatement(config)) args[0] = { ...config, name: nameOf(config.text) };
    if (Array.isArray(values)) args[1] = values.map(storedValue);
    return (super.query as (...args: unknown[]) => never)(...args);
  }
}

/**
 * Takes the keys of page addresses out of whatever is stored, so that no text, and nothing that is made of texts (index,
 * timeline, context, export), can tell one.
 */
const storedValue = (value: unknown): unknown => {
  if (typeof value === 'string') return withoutPageKeys(value);
  return Array.isArray(value) ? value.map(storedValue) : value;
};

/**
 * Makes clients that limit the time of each statement. The connection is broken when it is over: whatever hangs there,
 * nothing that comes after it on that connection would be answered either.
 */
export const clientWithin = ({ urgentMs, otherMs }: Deadlines) =>
  class extends PreparingClient {
    override query(...args: unknown[]): never {
      const deadlineMs = isUrgent() ? urgentMs : otherMs;
      const timer = setTimeout(() => {
        streamOf(this).destroy(new Error(`the database did not answer within ${deadlineMs} ms`));
      }, deadlineMs);
      const over = () => clearTimeout(timer);
      const last = args.at(-1);
      if (typeof last === 'function') {
        // It has a name of its own: see `http/compressed.ts` for what becomes of one that is assigned to a property.
        const answered = (...results: unknown[]) => {
          over();
          last(...results);
        };
        return super.query(...args.slice(0, -1), answered);
      }
      const result = super.query(...args) as Promise<unknown>;
      result.then(over, over);
      return result as never;
    }
  };

const streamOf = (client: pg.Client): Duplex =>
  (client as unknown as { connection: { stream: Duplex } }).connection.stream;

const isStatement = (config: unknown): config is { text: string } =>
  typeof config === 'object' && config !== null && 'text' in config && !('name' in config && config.name);

/**
 * A client would have given up long before; the factor bounds how long a client that was cut off can hold its locks.
 */
const FORSAKEN_FACTOR = 2;

/**
 * The server's own limits on a session. A client that was cut off cannot tell it to stop: without them the locks of an
 * open transaction would be held until TCP gives up, which takes hours.
 */
export async function limitSession(client: pg.ClientBase, { otherMs }: Deadlines): Promise<void> {
  await client.query(
    `set statement_timeout = ${otherMs}; set idle_in_transaction_session_timeout = ${otherMs * FORSAKEN_FACTOR};
    set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 4;
    set tcp_user_timeout = ${otherMs}`,
  );
}
