/**
 * Does for PGlite what autovacuum does for other servers, by the same measure: a table is analyzed when much of it has
 * changed, because without statistics the planner reads all of it, and vacuumed when many of its rows are dead or new.
 * Also makes the checkpoints that a server of its own would make.
 */
import { messages, protocol, type PGlite } from '@electric-sql/pglite';

/** As autovacuum has it by default: so many rows, and beyond these so large a share of the table. */
const isMuch = (rows: string, least: number, share: number) => `${rows} > ${least} + ${share} * greatest(reltuples, 0)`;

const DUE = `
  select name, "isVacuumed" from (
    select t.relid::regclass::text as name, ${isMuch('n_mod_since_analyze', 50, 0.1)} as "isChanged",
      ${isMuch('n_dead_tup', 50, 0.2)} or ${isMuch('n_ins_since_vacuum', 1_000, 0.2)} as "isVacuumed"
    from pg_stat_user_tables t join pg_class c on c.oid = t.relid
  ) tables
  where "isChanged" or "isVacuumed" order by name`;

/**
 * A standalone Postgres makes a checkpoint by itself only when it ends. Without others its log grows for as long as the
 * service runs, and after a power loss all of it is replayed.
 */
const CHECKPOINT_AFTER_BYTES = 64 * 1_024 ** 2;
const IS_CHECKPOINT_DUE = `
  select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) > ${CHECKPOINT_AFTER_BYTES} from pg_control_checkpoint()`;

type Engine = Pick<PGlite, 'runExclusive' | 'isInTransaction' | 'execProtocolStream'>;

/**
 * Nobody else is served meanwhile. While a client has a transaction open nothing is done, as it would be done within that.
 * @returns the tables that were looked after
 */
export const keepUp = (db: Engine): Promise<string[]> =>
  db.runExclusive(async () => {
    if (db.isInTransaction()) return [];
    // Its sibling `execProtocol` gives what is answered to the client who asked last.
    const ask = async (statement: string): Promise<(string | null)[][]> => {
      const reply = await db.execProtocolStream(protocol.serialize.query(statement));
      return reply.flatMap((message) => (message instanceof messages.DataRowMessage ? [message.fields] : []));
    };
    // Postgres counts for itself what a session has changed, and lets others know once a second at most.
    await ask('select pg_stat_force_next_flush()');
    const rows = await ask(DUE);
    const namesOf = (areVacuumed: 't' | 'f') =>
      rows.flatMap(([name, isVacuumed]) => (isVacuumed === areVacuumed ? name : [])).join(', ');
    const [analyzed, vacuumed] = [namesOf('f'), namesOf('t')];
    if (analyzed) await ask(`analyze ${analyzed}`);
    if (vacuumed) await ask(`vacuum (analyze) ${vacuumed}`);
    const [[isCheckpointDue] = []] = await ask(IS_CHECKPOINT_DUE);
    if (isCheckpointDue === 't') await ask('checkpoint');
    return rows.map(([name]) => String(name));
  });
