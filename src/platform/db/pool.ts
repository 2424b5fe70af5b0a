/** A pool of connections that serves waiting people before background work, and workspaces round robin. */
import pg from 'pg';
import { createFairQueue } from '../fairness/fair-queue.ts';
import { currentWorkspace } from '../fairness/workspace-context.ts';
import { asAway } from './away.ts';
import { isUrgent } from './urgency.ts';

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

interface PatientPoolConfig extends Omit<pg.PoolConfig, 'onConnect'> {
  max: number;
  connectionTimeoutMillis: number;
  /** It is awaited before a new connection is used for the first time. */
  onConnect?: (client: pg.ClientBase) => Promise<void>;
}

/** So many urgent queries may go before one that is not, so that background work never starves. */
const MAX_IN_A_ROW = 3;

export interface PoolUse {
  /** These connections are at work, or promised to whoever is next. */
  used: number;
  /** These connections are open and do nothing. */
  idle: number;
  /** So many queries wait for a connection. */
  waiting: number;
}

/**
 * Lets in as many queries as there are connections, urgent ones first; the pool that it extends therefore never has a
 * queue.
 */
export class PatientPool extends pg.Pool {
  #free: number;
  readonly #waiting = { urgent: createFairQueue<() => void>(), other: createFairQueue<() => void>() };
  readonly #patienceMs: number;
  #urgentInARow = 0;

  constructor(config: PatientPoolConfig) {
    super(config as pg.PoolConfig);
    this.#free = config.max;
    this.#patienceMs = config.connectionTimeoutMillis;
    this.on('release', () => this.#leave());
  }

  get use(): PoolUse {
    const { urgent, other } = this.#waiting;
    return { used: this.options.max - this.#free, idle: this.idleCount, waiting: urgent.size + other.size };
  }

  // The declared overloads are those of the base class: a promise, or a callback, which is what `query` uses.
  override connect(...args: unknown[]): never {
    const [callback] = args as [Connected?];
    const connected = this.#enter().then(() =>
      super.connect().catch((error: Error) => {
        this.#leave();
        throw asAway(error);
      }),
    );
    if (!callback) return connected as never;
    connected.then(
      (client) => callback(undefined, client, (error) => client.release(error as Error)),
      (error: Error) => callback(error, undefined, () => {}),
    );
    return undefined as never;
  }

  #enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
    const queue = this.#waiting[isUrgent() ? 'urgent' : 'other'];
    const workspace = currentWorkspace();
    return new Promise((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        queue.remove(workspace, enter);
        reject(asAway(new Error('timeout exceeded when trying to connect')));
      }, this.#patienceMs);
      queue.push(workspace, enter);
    });
  }

  #leave(): void {
    const { urgent, other } = this.#waiting;
    // Those who only ask how far something is must not keep it from going on.
    const isOthersTurn = urgent.size === 0 || (this.#urgentInARow >= MAX_IN_A_ROW && other.size > 0);
    this.#urgentInARow = isOthersTurn ? 0 : this.#urgentInARow + 1;
    const next = (isOthersTurn ? other : urgent).shift();
    if (next) next.item();
    else this.#free += 1;
  }
}
