/**
 * Queries on pages. A submission is written once, and both it and a wait are one statement on the page's row: of the
 * two that meet there the later one sees the earlier, so that either the wait finds the submission or the submission
 * finds who waits.
 */
import { sql, type SQL } from 'drizzle-orm';
import { first } from '../../platform/core/present.ts';
import type { Database } from '../../platform/db/client.ts';
import type { Claim } from '../../platform/http/once-only.ts';
import { ClaimLostError, holdingClaim } from '../idempotency-keys/store.ts';
import type { Way } from '../projects/model.ts';
import { ASK_HUMAN, waitOf, type Submission, type WaitingCall } from './model.ts';
import { OPEN_RUN } from '../runs/store/statuses.ts';

export type MiniappStore = ReturnType<typeof createMiniappStore>;

export interface NewPage extends WaitingCall {
  id: string;
  tool: string;
  html: string;
  ttlMs: number;
}

/** The state of a page when a wait for it begins. */
export interface PageWaitedFor {
  /** Absent while there is no submission. */
  submission?: Submission;
  expiresAt: Date;
  /** The page takes a submission for this long; negative where it takes none any more. */
  remainingMs: number;
}

export interface ServedPage {
  html: string;
  args: unknown;
  state: 'open' | 'submitted' | 'closed';
  /** Who asks, and in which run. */
  agent: string | null;
  runId: string;
  customerId: string;
  workspace: string;
  /** Takes an answer until then; ISO 8601. */
  expiresAt: string;
}

/** A wait that was made a moment ago is being told by somebody right now. */
const OVERDUE_S = 15;
const IS_UNTOLD = sql.raw(`submitted_at < now() - interval '${OVERDUE_S} s' and waits <> '{}'`);
const MOST_UNTOLD = 2_000;

export const SUBMISSIONS_BEHIND = {
  tellSubmissions: sql`(
    select count(*)::int as due,
      coalesce(extract(epoch from now() - min(submitted_at)) - ${OVERDUE_S}, 0)::float8 as "overdueS"
    from (select submitted_at from miniapp_pages where ${IS_UNTOLD} order by submitted_at limit ${MOST_UNTOLD}) overdue)`,
};

/** A submitted page of which a waiting call has not heard. */
export interface Untold {
  pageId: string;
  waits: string[];
}

export interface PageAddress {
  customerId: string;
  pageId: string;
}

const addressed = ({ customerId, pageId }: PageAddress): SQL => sql`p.id = ${pageId} and p.customer_id = ${customerId}`;

/** Says who sends what a page asks for, and how. */
export interface Submitter {
  name: string;
  via: Way;
}

interface WaitRow {
  submitted: unknown;
  submittedAt: string | null;
  expiresAt: string;
  remainingMs: number;
}

/** A question closes with its call; what a miniapp is for goes on after the run that made it. */
const IS_OPEN = sql`p.expires_at > now()
  and (p.tool <> ${ASK_HUMAN} or (c.status = 'pending' and r.status in ${OPEN_RUN}))`;
const OF_CALL = sql`c.run_id = p.run_id and c.call_id = p.call_id and r.id = p.run_id`;
const WAIT_COLUMNS = sql`submitted, submitted_at as "submittedAt", expires_at as "expiresAt",
  (extract(epoch from expires_at - now()) * 1000)::float8 as "remainingMs"`;

export const createMiniappStore = (db: Database) => {
  async function changeWaits(change: SQL, { customerId }: WaitingCall, pageId: string) {
    const [row] = await db.rows<WaitRow>(sql`
      update miniapp_pages set waits = ${change} where id = ${pageId} and customer_id = ${customerId}
      returning ${WAIT_COLUMNS}`);
    return row && waitedFor(row);
  }

  async function submit(page: PageAddress, json: string, by: Submitter): Promise<Untold | undefined> {
    const [told] = await db.rows<Untold>(sql`
        with submitted as (
          update miniapp_pages p set submitted = ${json}::jsonb, submitted_at = now()
          from run_tool_calls c, runs r
          where ${addressed(page)} and ${OF_CALL} and p.submitted_at is null and ${IS_OPEN}
          returning p.id, p.customer_id, p.waits
        ), answered as (
          update waits w set settled_at = now(), answer = 'submit', settled_by = ${by.name},
            settled_via = ${by.via}::way_of_answer
          from submitted s where w.subject = s.id and w.customer_id = s.customer_id and w.settled_at is null
        )
        select id as "pageId", waits from submitted`);
    return told;
  }

  return {
    /** Makes one page for a call, however often that is repeated. @returns its id */
    async insertPage({ id, customerId, runId, callId, tool, html, ttlMs }: NewPage): Promise<string> {
      const page = first(
        await db.rows<{ id: string }>(sql`
        insert into miniapp_pages (id, customer_id, run_id, call_id, tool, html, expires_at)
        values (${id}, ${customerId}, ${runId}, ${callId}, ${tool}, ${html},
          now() + ${ttlMs} * interval '1 ms')
        on conflict (run_id, call_id) do update set tool = miniapp_pages.tool
        returning id`),
      );
      return page.id;
    },

    async isSubmitted({ customerId, pageId }: { customerId: string; pageId: string }): Promise<boolean> {
      const rows = await db.rows(sql`
        select from miniapp_pages where id = ${pageId} and customer_id = ${customerId} and submitted_at is not null`);
      return rows.length > 0;
    },

    async findOwner(pageId: string): Promise<string | undefined> {
      const [page] = await db.rows<{ customerId: string }>(sql`
        select customer_id as "customerId" from miniapp_pages where id = ${pageId}`);
      return page?.customerId;
    },

    async findPage(page: PageAddress): Promise<ServedPage | undefined> {
      const [found] = await db.rows<ServedPage>(sql`
        select p.html, c.arguments as args, r.agent, p.run_id as "runId", r.customer_id as "customerId",
          r.customer_id as workspace,
          p.expires_at as "expiresAt", case
          when p.submitted_at is not null then 'submitted' when ${IS_OPEN} then 'open' else 'closed' end as state
        from miniapp_pages p, run_tool_calls c, runs r
        where ${addressed(page)} and ${OF_CALL}`);
      return found;
    },

    /**
     * @param json of what the person sent
     * @param by names who answered, for the inbox
     * @param claim of a request with a key: it notes the page, in the same transaction
     * @returns undefined where the page takes no submission, or none any more
     * @throws ClaimLostError
     */
    async recordSubmission(page: PageAddress, json: string, by: Submitter, claim?: Claim): Promise<Untold | undefined> {
      if (!claim) return submit(page, json, by);
      return db.transaction(async () => {
        const told = await submit(page, json, by);
        if (told && (await db.rows(holdingClaim(claim, told.pageId))).length === 0) throw new ClaimLostError();
        return told;
      });
    },

    /** @returns undefined for an unknown or foreign page */
    beginWait(call: WaitingCall, pageId: string): Promise<PageWaitedFor | undefined> {
      const wait = waitOf(call);
      return changeWaits(
        sql`case when submitted_at is null then array_append(array_remove(waits, ${wait}), ${wait}) else waits end`,
        ...([call, pageId] as const),
      );
    },

    endWait: (call: WaitingCall, pageId: string): Promise<PageWaitedFor | undefined> =>
      changeWaits(sql`array_remove(waits, ${waitOf(call)})`, call, pageId),

    /** The order is random, so that those who cannot be told do not hold the others up. */
    listUntold: (limit: number): Promise<Untold[]> =>
      db.rows<Untold>(sql`
        select id as "pageId", waits from (
          select id, waits from miniapp_pages where ${IS_UNTOLD} order by submitted_at limit ${MOST_UNTOLD}
        ) overdue order by random() limit ${limit}`),

    /** Closes what nobody sent in time: nothing else happens at that moment. */
    async closeExpired(limit: number): Promise<void> {
      await db.rows(sql`
        update waits set settled_at = expires_at where id in (
          select id from waits where settled_at is null and expires_at <= now() limit ${limit} for update skip locked)`);
    },

    async markTold(pageId: string, wait: string): Promise<void> {
      await db.rows(sql`update miniapp_pages set waits = array_remove(waits, ${wait}) where id = ${pageId}`);
    },
  };
};

const waitedFor = ({ submitted, submittedAt, expiresAt, remainingMs }: WaitRow): PageWaitedFor => ({
  expiresAt: new Date(expiresAt),
  remainingMs,
  ...(submittedAt !== null && { submission: { data: submitted, submittedAt: new Date(submittedAt) } }),
});
