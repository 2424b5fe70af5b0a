/** Statements of the search. Each is bound to the workspace, by its mark in the index and by the column. */
import { sql, type SQL } from 'drizzle-orm';
import { first, itemAt } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import {
  RANKED,
  SEARCHED_CHARACTERS,
  type Moment,
  type SearchKind,
  type SearchPlace,
  type SearchStatus,
} from '../model.ts';
import { SEARCHED } from '../../searched.ts';
import { patternOf } from '../words.ts';

export type SearchStore = ReturnType<typeof createSearchStore>;

export interface SearchRequest {
  customerId: string;
  /** Queries of text search: what stands in the document, and which documents. */
  words: string;
  marks: string;
  /** What is to be seen of each that is found, in small letters and digits. */
  shown: readonly string[];
  status?: SearchStatus | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

export interface SearchHit {
  kind: SearchKind;
  id: string;
  at: string;
  rank: number;
  title: string;
  status: SearchStatus | null;
  agent: string | null;
  run_id: string | null;
  project_id: string | null;
  /** A file was attached to this scheduled job, or to this conversation. */
  job_n: number | null;
  thread_id: string | null;
  /** Where the words stand, at most so many characters around the first of them. */
  excerpts: { field: string; text: string; isCut: boolean }[];
}
/** Its columns are null where nothing was found; the row then tells only how far the search has looked. */
type FoundRow = { [Column in keyof SearchHit]: SearchHit[Column] | null } & {
  micros: string | null;
  subject: string | null;
  candidates: number;
  newest_at: string | null;
  newest_id: string | null;
  oldest_at: string | null;
  oldest_id: string | null;
};

const BEFORE = 60;
const EXCERPT = 240;
const NOTHING = sql``;

/** The documents that are asked for, as `d`. */
const matching = ({ customerId, words, marks, from, to }: SearchRequest): SQL => sql`
  search_documents d where d.customer_id = ${customerId} and d.words @@ (${marks}::tsquery && ${words}::tsquery)
    ${from === undefined ? NOTHING : sql`and d.at >= ${from.toISOString()}::timestamptz`}
    ${to === undefined ? NOTHING : sql`and d.at < ${to.toISOString()}::timestamptz`}`;
const micros = (column: SQL): SQL => sql`(extract(epoch from ${column}) * 1000000)::bigint::text`;
const instantOf = (at: string): SQL => sql`(timestamptz 'epoch' + ${at}::bigint * interval '1 microsecond')`;

/** What a document is of, as it is now: one branch for each kind. */
const subjects = (customerId: string): SQL =>
  sql.join(
    SEARCHED.map((branch) => branch(customerId)),
    sql` union all `,
  );

export const createSearchStore = (db: Database) => ({
  /** The newest documents that match are ranked among each other; a page is of those, in the order of rank, then of time. */
  async search(
    asked: SearchRequest,
    { newest, after }: SearchPlace,
    limit: number,
  ): Promise<{ hits: SearchHit[]; next: SearchPlace | null }> {
    const { customerId, words, shown, status } = asked;
    const pattern = patternOf(shown);
    const rows = await db.rows<FoundRow>(sql`
      with candidates as materialized (
        select d.kind, d.subject, d.at, ts_rank(d.words, ${words}::tsquery, 1)::float8 as rank
        from ${matching(asked)}
          ${newest === null ? NOTHING : sql`and (d.at, d.subject) ${after === null ? sql`<` : sql`<=`} (${instantOf(newest.at)}, ${newest.id})`}
        order by d.at desc, d.subject desc limit ${RANKED}
      ), page as (
        select * from candidates c
        ${after === null ? NOTHING : sql`where (c.rank, c.at, c.subject) < (${after.rank}::float8, ${instantOf(after.at)}, ${after.id})`}
        order by c.rank desc, c.at desc, c.subject desc limit ${limit}
      ), ends as (
        select count(*)::int as candidates, (array_agg(subject order by at desc, subject desc))[1] as newest_id, max(at) as newest_at,
          (array_agg(subject order by at, subject))[1] as oldest_id, min(at) as oldest_at
        from candidates)
      select ends.candidates, ${micros(sql`ends.newest_at`)} as newest_at, ends.newest_id, ${micros(sql`ends.oldest_at`)} as oldest_at,
        ends.oldest_id, p.kind, p.subject, p.at, ${micros(sql`p.at`)} as micros, p.rank, s.id, s.title, s.status, s.agent, s.run_id,
        s.project_id, s.job_n, s.thread_id, case when s.id is not null then coalesce(x.excerpts, '[]'::jsonb) end as excerpts
      from ends left join page p on true
        left join lateral (${subjects(customerId)}) s on true
        left join lateral (
          select jsonb_agg(jsonb_build_object('field', f.name, 'text', substr(f.text, greatest(1, f.place - ${BEFORE}), ${EXCERPT}),
            'isCut', f.place > ${BEFORE + 1}) order by f.n) as excerpts
          from (
            select u.name, u.text, u.n, regexp_instr(left(u.text, ${SEARCHED_CHARACTERS}), ${pattern}::text, 1, 1, 0, 'i') as place
            from (
              select name, without_page_keys(kept) as text, n
              from unnest(s.names, s.texts) with ordinality as all_texts(name, kept, n)) u) f
          where f.place > 0) x on true
      order by p.rank desc, p.at desc, p.subject desc`);
    const { candidates, newest_at, newest_id, oldest_at, oldest_id } = first(rows);
    const paged = rows.filter(
      (row): row is FoundRow & { subject: string; micros: string; rank: number } => row.subject !== null,
    );
    // What has been deleted meanwhile has no row, and what has changed meanwhile another status.
    const hits = rows.filter(
      (row): row is FoundRow & SearchHit => row.id !== null && (status === undefined || row.status === status),
    );
    const rankedFrom = momentOf(newest_at, newest_id);
    const oldest = momentOf(oldest_at, oldest_id);
    if (!rankedFrom || !oldest) return { hits: [], next: null };
    if (paged.length === limit) {
      const { rank, micros: at, subject: id } = itemAt(paged, -1);
      return { hits, next: { newest: after === null ? rankedFrom : newest, after: { rank, at, id } } };
    }
    return { hits, next: candidates === RANKED ? { newest: oldest, after: null } : null };
  },

  /** @returns the subjects of the newest documents that are asked for, newest first */
  async newest(asked: SearchRequest, most: number): Promise<string[]> {
    const rows = await db.rows<{ subject: string }>(
      sql`select d.subject from ${matching(asked)} order by d.at desc, d.subject desc limit ${most}`,
    );
    return rows.map(({ subject }) => subject);
  },
});

const momentOf = (at: string | null, id: string | null): Moment | undefined =>
  at === null || id === null ? undefined : { at, id };
