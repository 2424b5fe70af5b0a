/** Says in one line what is wrong with a database: the setting, what was found, and what mends it. */
import type pg from 'pg';
import { causesOf, errorCodeOf, messageOf } from '../core/causes.ts';
import { isConnectionBroken } from './away.ts';

export interface DatabaseFault {
  setting: 'DATABASE_URL' | 'DATABASE_POOL_SIZE';
  found: string;
  mend: string;
  /**
   * `away` may pass by itself, `behind` is mended by a migration, `wrong` stays until somebody does something, and with
   * `doubtful` the service works.
   */
  kind: 'away' | 'behind' | 'wrong' | 'doubtful';
}

/** Nothing brings such a database forward (decision 216). */
export const beforeBaseline: DatabaseFault = {
  setting: 'DATABASE_URL',
  found: 'the database was made by a version before 1.0, which cannot be upgraded',
  mend: 'export what you need with that version (`aos workspaces export`), then start this one with an empty database',
  kind: 'wrong',
};

export const lineOf = ({ setting, found, mend }: DatabaseFault): string => `${setting}: ${found}; ${mend}`;

/** Where a client connects to, and as whom. */
export type ConnectionTarget = Pick<pg.Client, 'host' | 'port' | 'user' | 'database'>;

type Said = Omit<DatabaseFault, 'setting' | 'kind'>;
type Explain = (target: ConnectionTarget, message: string) => Said;

const at = ({ host, port }: ConnectionTarget): string => `${host}:${port}`;

/** By SQLSTATE, or the code of Node. */
const EXPLAINED: Readonly<Record<string, Explain>> = {
  ENOTFOUND: ({ host }) => ({
    found: `there is no host ${host}`,
    mend: `correct the host; \`getent hosts ${host}\` says what this machine knows of it`,
  }),
  EAI_AGAIN: ({ host }) => ({
    found: `the name ${host} cannot be looked up now`,
    mend: `correct the host, or the DNS of this machine; \`getent hosts ${host}\` tries it`,
  }),
  ECONNREFUSED: (target) => ({
    found: `nothing listens at ${at(target)}`,
    mend: `start Postgres there, or correct host and port; \`pg_isready -h ${target.host} -p ${target.port}\` tries it`,
  }),
  ENOENT: (target, message) => ({
    found: message,
    mend: 'correct the path of the socket or the certificate in the address',
  }),
  '28P01': ({ user }) => ({
    found: `there is no role ${user} with this password`,
    mend: `correct it (% and other signs percent-encoded), or set it: \`alter role "${user}" password '...'\``,
  }),
  '3D000': ({ database, user }) => ({
    found: `there is no database ${database}`,
    mend: `correct its name, or make it: \`createdb -O ${user} ${database}\``,
  }),
  '42501': ({ user, database }, message) => ({
    found: `the role ${user} has too few rights (${message})`,
    mend: `give it the database: \`alter database "${database}" owner to "${user}"\`, and what is in it`,
  }),
  '25006': ({ database, user }) => readOnly({ database, user }, false),
  '53300': (_, message) => ({
    found: `the server has no connection left (${message})`,
    mend: 'lower DATABASE_POOL_SIZE, or raise its limit: `alter system set max_connections = 300`, then start it again',
  }),
  ERR_TLS_CERT_ALTNAME_INVALID: (target, message) => ({
    found: `the TLS certificate of ${at(target)} is for another host (${message})`,
    mend: 'correct the host, or set sslmode=no-verify in the address',
  }),
};

/** Some errors have no code, and some codes several meanings. */
const BY_MESSAGE: readonly [RegExp, Explain][] = [
  [
    /does not support SSL/,
    (target) => ({
      found: `${at(target)} speaks no TLS, which sslmode asks for`,
      mend: 'set sslmode=disable in the address, or switch TLS on there: `alter system set ssl = on`',
    }),
  ],
  [
    /^no pg_hba\.conf entry .{1,500}(?:no encryption|SSL off)$/,
    (target) => ({
      found: `${at(target)} takes no connection without TLS as ${target.user} to ${target.database}`,
      mend: 'set sslmode=verify-full (or no-verify) in the address, or allow it in pg_hba.conf: `select pg_reload_conf()`',
    }),
  ],
  [
    /pg_hba\.conf/,
    (target, message) => ({
      found: `${at(target)} takes no connection from here (${message})`,
      mend: 'allow it in pg_hba.conf of the server: `select pg_reload_conf()`',
    }),
  ],
  [
    /^role .{1,200} does not exist$/,
    ({ user }) => ({
      found: `there is no role ${user}`,
      mend: `correct the user, or make it: \`create role "${user}" login password '...'\``,
    }),
  ],
  [
    /password must be a (non-empty )?string|no password supplied/,
    ({ user }) => ({
      found: `the role ${user} needs a password, and the address has none`,
      mend: 'write it into the address: postgres://user:password@host:5432/name',
    }),
  ],
  [
    /certificate/,
    (target, message) => ({
      found: `the TLS certificate of ${at(target)} is not trusted (${message})`,
      mend: 'name the authority in the address: sslrootcert=/path/to/ca.pem, or set sslmode=no-verify',
    }),
  ],
  [/extension "vector" is not available|extension control file/, () => noVector(undefined)],
];

export const noVector = (major: number | undefined): Said => ({
  found: 'the server has no extension `vector` (pgvector)',
  mend: `install it there: \`apt install postgresql-${major ?? '<version>'}-pgvector\`, or take the image pgvector/pgvector`,
});

export const readOnly = ({ database, user }: Pick<ConnectionTarget, 'database' | 'user'>, isStandby: boolean): Said =>
  isStandby
    ? { found: 'the server is a read-only standby', mend: 'name the primary, or promote it: `select pg_promote()`' }
    : {
        found: `the database ${database} is read-only`,
        mend: `let ${user} write: \`alter database "${database}" set default_transaction_read_only = off\``,
      };

/** @returns undefined for an error that says nothing about the database or who asks */
export function faultIn(error: unknown, target: ConnectionTarget): DatabaseFault | undefined {
  for (const each of causesOf(error)) {
    const message = messageOf(each).split('\n', 1).join('');
    const explain = EXPLAINED[errorCodeOf(each) ?? ''] ?? BY_MESSAGE.find(([said]) => said.test(message))?.[1];
    const isAway = isConnectionBroken(each) || /timeout e/.test(message);
    if (!explain && !isAway) continue;
    const said = explain?.(target, message) ?? {
      found: `${at(target)} is not answering (${message || errorCodeOf(each)})`,
      mend: `start Postgres there, or correct host and port; \`pg_isready -h ${target.host} -p ${target.port}\` tries it`,
    };
    return { setting: 'DATABASE_URL', ...said, kind: isAway ? 'away' : 'wrong' };
  }
  return undefined;
}
