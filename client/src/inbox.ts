/** Lists what waits for somebody outside, and answers it, bound to what was seen. */
import type { Connection } from './connection.ts';
import {
  inboxAnswer,
  inboxDelegate,
  inboxGet,
  inboxList,
  inboxRemind,
  inboxWithdrawLinks,
} from './generated/sdk.gen.ts';
import type { Wait, WaitAnswer, WaitDetail } from './generated/types.gen.ts';
import { callOf, type CallOptions } from './runs.ts';

export interface InboxFilter {
  status?: Wait['status'];
  kind?: Wait['kind'];
  projectId?: string;
  runId?: string;
  /** Only those that the caller may answer. */
  mine?: boolean;
  /** Only those that are past their time. */
  overdue?: boolean;
}

/** What was seen of a wait: a row of the list, or its detail. */
export type SeenWait = Pick<Wait, 'id' | 'revision'>;

export interface InboxAnswer extends CallOptions {
  comment?: string | undefined;
  /** Goes with `submit`: what the page of the question asks for. */
  data?: WaitAnswer['data'] | undefined;
  /** Goes with `raise_budget`: US dollars, as a decimal, that are added to each of the wait's `limits`. */
  raiseByUsd?: string | undefined;
}

/** Every call needs a session. */
export interface Inbox {
  /** Yields what waits, newest first, page by page. */
  list(filter?: InboxFilter, options?: { signal?: AbortSignal }): AsyncGenerator<Wait>;
  /**
   * Gives everything that is needed to decide.
   * @throws ServiceError not_found
   */
  get(waitId: string, options?: { signal?: AbortSignal }): Promise<WaitDetail>;
  /**
   * Answers a wait as it was seen: what has changed since, or was answered by somebody else, is refused.
   * @throws ServiceError changed_since, already_answered, not_an_approver, four_eyes, nothing_to_raise, admin_required
   */
  answer(wait: SeenWait, answer: WaitAnswer['answer'], more?: InboxAnswer): Promise<WaitDetail>;
  /** Asks for an answer once more. @throws ServiceError reminded_lately */
  remind(waitId: string, options?: CallOptions): Promise<WaitDetail>;
  /** Lets somebody else's answer count in the place of the caller's, until then. */
  delegate(waitId: string, to: { to: string; until: Date | string }, options?: CallOptions): Promise<WaitDetail>;
  /** Withdraws the links that were mailed of a wait. */
  withdrawLinks(waitId: string, options?: CallOptions): Promise<void>;
}

export function createInbox({ http: client }: Connection): Inbox {
  const of = (waitId: string) => ({ client, path: { wait_id: waitId } });
  return {
    async *list({ projectId, runId, mine, overdue, ...filter } = {}, { signal } = {}) {
      const wanted = {
        ...filter,
        ...(projectId !== undefined && { project_id: projectId }),
        ...(runId !== undefined && { run_id: runId }),
        ...(mine && { for: 'me' as const }),
        ...(overdue && { overdue: 'true' as const }),
      };
      let cursor: string | null | undefined;
      do {
        const query = { ...wanted, ...(cursor && { cursor }) };
        const page = await inboxList({ client, query, ...(signal && { signal }) });
        yield* page.data;
        cursor = page.meta.next_cursor;
      } while (cursor !== null);
    },
    get: (waitId, { signal } = {}) => inboxGet({ ...of(waitId), ...(signal && { signal }) }),
    answer({ id, revision }, answer, { comment, data, raiseByUsd, ...options } = {}) {
      const body = {
        answer,
        revision,
        ...(comment !== undefined && { comment }),
        ...(data !== undefined && { data }),
        ...(raiseByUsd !== undefined && { raise_by_usd: raiseByUsd }),
      };
      return inboxAnswer({ ...of(id), body, ...callOf(options) });
    },
    remind: (waitId, options = {}) => inboxRemind({ ...of(waitId), ...callOf(options) }),
    delegate: (waitId, { to, until }, options = {}) =>
      inboxDelegate({ ...of(waitId), body: { to, until: new Date(until).toISOString() }, ...callOf(options) }),
    async withdrawLinks(waitId, options = {}) {
      await inboxWithdrawLinks({ ...of(waitId), ...callOf(options) });
    },
  };
}
