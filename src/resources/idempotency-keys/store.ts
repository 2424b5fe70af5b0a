/**
 * Keys under which requests are answered once. Whatever a try does is done as its owner: one that was taken for dead and
 * goes on finds that it has lost the key, and makes nothing.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../platform/db/client.ts';
import type { Claim, RepeatableRequest } from '../../platform/http/once-only.ts';

/** An answer is given again for this long. */
export const KEPT_MS = 24 * 3_600_000;
/** A try counts as alive for this long without a word of it. */
export const LEASE_MS = 15_000;

export type IdempotencyKeyStore = ReturnType<typeof createIdempotencyKeyStore>;

export interface KeyRow {
  requestHash: string;
  caller: string;
  answer: string | null;
}

/** Another try has the key by now, and it alone may do what this request was about to do. */
export class ClaimLostError extends Error {}

const leaseEnd: SQL = sql`clock_timestamp() + ${LEASE_MS} * interval '1 ms'`;

const isOf = ({ customerId, endpoint, keyHash }: Pick<RepeatableRequest, 'customerId' | 'endpoint' | 'keyHash'>): SQL =>
  sql`customer_id = ${customerId} and endpoint = ${endpoint} and key_hash = ${keyHash}`;

const isOwned = (claim: Claim): SQL => sql`${isOf(claim)} and owner = ${claim.owner}::uuid and answer is null`;

/**
 * A part of the statement, or the transaction, that makes something: it notes the id, and holds the key until that is
 * committed. It returns a row, or none where the claim is lost: then nothing may be made.
 */
export const holdingClaim = (claim: Claim, made: string): SQL =>
  sql`update idempotency_keys set made = ${made} where ${isOwned(claim)} returning 1`;

export const createIdempotencyKeyStore = (db: Database) => ({
  /**
   * Takes a key that is new, or a day old, or whose try died.
   * @returns undefined where somebody else has it, or had it
   */
  async take(request: RepeatableRequest, { token, owner }: Pick<Claim, 'token' | 'owner'>) {
    const { customerId, endpoint, keyHash, caller, requestHash } = request;
    const isOld = sql`k.created_at < now() - ${KEPT_MS} * interval '1 ms'`;
    const [taken] = await db.rows<{ token: string; made: string | null; tries: number }>(sql`
      insert into idempotency_keys as k (customer_id, endpoint, key_hash, caller, request_hash, token, owner, lease_until)
      values (${customerId}, ${endpoint}, ${keyHash}, ${caller}, ${requestHash}, ${token}::uuid, ${owner}::uuid, ${leaseEnd})
      on conflict (customer_id, endpoint, key_hash) do update set
        caller = excluded.caller, request_hash = excluded.request_hash, owner = excluded.owner, lease_until = excluded.lease_until,
        answer = null,
        token = case when ${isOld} then excluded.token else k.token end,
        made = case when ${isOld} then null else k.made end,
        tries = case when ${isOld} then 1 else k.tries + 1 end,
        created_at = case when ${isOld} then now() else k.created_at end
      where ${isOld} or (k.answer is null and k.request_hash = excluded.request_hash
        and k.caller = excluded.caller and k.lease_until < clock_timestamp())
      returning token, made, tries`);
    return taken;
  },

  async find(request: RepeatableRequest): Promise<KeyRow | undefined> {
    const [row] = await db.rows<KeyRow>(sql`
      select request_hash as "requestHash", caller, answer from idempotency_keys where ${isOf(request)}`);
    return row;
  },

  /** Drops an answer that cannot be opened any more; the next try finds what was made. */
  async forgetAnswer(request: RepeatableRequest, answer: string): Promise<void> {
    await db.rows(sql`
      update idempotency_keys set answer = null, lease_until = clock_timestamp()
      where ${isOf(request)} and answer = ${answer}`);
  },

  async renew(claim: Claim): Promise<void> {
    await db.rows(sql`update idempotency_keys set lease_until = ${leaseEnd} where ${isOwned(claim)}`);
  },

  async keepAnswer(claim: Claim, answer: string): Promise<void> {
    await db.rows(sql`update idempotency_keys set answer = ${answer} where ${isOwned(claim)}`);
  },

  /** Gives the key back as if it had never been used, because nothing was made. */
  async release(claim: Claim): Promise<void> {
    await db.rows(sql`delete from idempotency_keys where ${isOwned(claim)}`);
  },

  /** Gives the try up. Something may have been made, so whoever asks next looks. */
  async giveUp(claim: Claim): Promise<void> {
    await db.rows(sql`update idempotency_keys set lease_until = clock_timestamp() where ${isOwned(claim)}`);
  },
});
