/**
 * Places at receivers: a delivery is sent while it holds one of those that its host has. They are kept in the database, so
 * that all workers together send no more than that many to a host at once, and whoever finds none waits where it costs
 * nothing: as a timer of its workflow.
 */
import { sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/client.ts';

export type PlaceStore = ReturnType<typeof createPlaceStore>;

export interface PlaceWanted {
  /** The host with its port. */
  host: string;
  customerId: string;
  /** The delivery that holds the place. */
  holder: string;
  /** The place becomes free after this time, should its holder die. */
  forMs: number;
}

/** A look costs something too; and a host that is quick again should not be waited for much longer. */
const WAIT_MS = { least: 250, most: 300_000 };

/** @param atOnce limits the deliveries to one host; those of one workspace have half of its places at most */
export const createPlaceStore = (db: Database, { atOnce }: { atOnce: number }) => {
  const share = Math.ceil(atOnce / 2);

  /**
   * Takes a free place. One that the same delivery holds already, because its attempt before this one died in it, is
   * its own. The choice is made once, which in a join of two tables it need not be. One workspace's places are counted
   * and taken one after another: of two that count at once each would find room.
   */
  const takeFree = ({ host, customerId, holder, forMs }: PlaceWanted): Promise<boolean> =>
    db.transaction(async () => {
      await db.rows(sql`select pg_advisory_xact_lock(hashtextextended(${`place:${customerId}/${host}`}, 0))`);
      const taken = await db.rows(sql`
        with free as materialized (
          select n from delivery_slots
          where host = ${host} and n <= ${atOnce} and (held_until <= now() or holder = ${holder})
            and (select count(*) from delivery_slots of_workspace
              where of_workspace.host = ${host} and of_workspace.customer_id = ${customerId}
                and of_workspace.held_until > now() and of_workspace.holder <> ${holder}) < ${share}
          order by holder is not distinct from ${holder} desc, n limit 1 for update skip locked
        )
        update delivery_slots s
        set holder = ${holder}, customer_id = ${customerId}, held_until = now() + ${forMs} * interval '1 ms'
        from free
        where s.host = ${host} and s.n = free.n
        returning s.n`);
      return taken.length > 0;
    });

  return {
    /** @returns milliseconds after which to come again, where there is no place; undefined where one was taken */
    async take(wanted: PlaceWanted): Promise<number | undefined> {
      if (await takeFree(wanted)) return undefined;
      const { host } = wanted;
      const made = await db.rows(sql`
        insert into delivery_slots (host, n) select ${host}, generate_series(1, ${atOnce}::int)
        on conflict do nothing returning n`);
      if (made.length > 0 && (await takeFree(wanted))) return undefined;
      // The wait lies behind those who were told to come again before, at the pace of those who were here last.
      const [booked] = await db.rows<{ waitMs: number }>(sql`
        with next as materialized (
          select n from delivery_slots where host = ${host} and n <= ${atOnce}
          order by booked_until limit 1 for update skip locked
        )
        update delivery_slots s
        set booked_until = greatest(s.booked_until, now()) + s.last_ms * interval '1 ms'
        from next
        where s.host = ${host} and s.n = next.n
        returning (extract(epoch from s.booked_until - now()) * 1000)::float8 as "waitMs"`);
      const waitMs = Math.min(Math.max(booked?.waitMs ?? 0, WAIT_MS.least), WAIT_MS.most);
      // The spread keeps them from all coming at one moment.
      return Math.round(waitMs * (0.9 + 0.2 * Math.random()));
    },

    async giveBack({ host, holder }: Pick<PlaceWanted, 'host' | 'holder'>, tookMs: number): Promise<void> {
      await db.rows(sql`
        update delivery_slots
        set held_until = now(), holder = null, customer_id = null, last_ms = ${Math.ceil(tookMs)}::int
        where host = ${host} and holder = ${holder}`);
    },
  };
};
