/**
 * Adds `aos secrets rotate`, which changes the key of what is stored sealed. Where the operator sets `SECRETS_KEY`, the
 * new key is put before the old one there; the embedded mode makes a key and keeps it in DATA_DIR.
 */
import type { Command } from 'commander';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { secretsFile, type Secrets } from '../embedded/secrets.ts';
import { readPrivateJson, writePrivateJson } from '../embedded/private-file.ts';
import { createSecretBox } from '../platform/core/crypto.ts';
import { newSecret } from '../platform/core/ids.ts';
import { claimed, withDatabase } from './database.ts';
import { CliError, print, printJson, printTable } from './output.ts';

export function addSecretsCommands(program: Command): void {
  const secrets = program.command('secrets').description('the key that stored secrets are sealed with');
  secrets
    .command('rotate')
    .description('seal every stored secret with the current key of SECRETS_KEY; can be repeated at any time')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
With SECRETS_KEY: put the new key before the old one (SECRETS_KEY="new,old"), restart every process of the service,
then run this. With what npm start keeps in DATA_DIR: stop the service, run this, start it again.

Example:
  SECRETS_KEY="$(openssl rand -base64 32),$OLD_KEY" aos secrets rotate`,
    )
    .action(rotate);
}

async function rotate({ json }: { json?: boolean }): Promise<void> {
  const { rotateSecrets } = await import('../rotate-secrets.ts');
  const { rotations, secretBox, doneWithOld } = await withKeptKey(process.env, () =>
    withDatabase(process.env, async (db) => {
      const { keys, doneWithOld } = await keysFor(process.env);
      const secretBox = createSecretBox(keys);
      return { rotations: await rotateSecrets(db, secretBox), secretBox, doneWithOld };
    }),
  );
  const sum = (count: 'resealed' | 'unreadable' | 'remaining') =>
    rotations.reduce((total, rotation) => total + rotation[count], 0);
  const isDone = sum('remaining') === 0;
  if (isDone) await doneWithOld();

  if (json) {
    printJson({ key_id: secretBox.keyId, data: rotations, old_keys_needed: !isDone });
  } else {
    printTable(
      rotations,
      [
        { title: 'SECRETS', value: ({ table, column }) => `${table}.${column}` },
        { title: 'RESEALED', value: ({ resealed }) => resealed, align: 'right' },
        { title: 'UNREADABLE', value: ({ unreadable }) => unreadable, align: 'right' },
        { title: 'LEFT', value: ({ remaining }) => remaining, align: 'right' },
      ],
      'nothing is sealed',
    );
    if (isDone) print(`\nAll are sealed with key ${secretBox.keyId}: ${oldKeyAdvice(process.env)}`);
  }
  if (sum('unreadable') > 0) {
    throw new CliError(
      `${sum('unreadable')} cannot be opened: they were sealed with a key that SECRETS_KEY does not name; add it, or set them anew`,
    );
  }
  if (!isDone) {
    throw new CliError(
      `${sum('remaining')} were sealed with an older key meanwhile: restart every process with the new SECRETS_KEY and run this again`,
    );
  }
}

const oldKeyAdvice = ({ SECRETS_KEY }: NodeJS.ProcessEnv): string =>
  SECRETS_KEY
    ? 'once every process of the service has SECRETS_KEY with this key first, the older ones can go.'
    : 'the older one is gone.';

/**
 * A service that runs on DATA_DIR has read its key there, and would open nothing that is sealed with another: it must not
 * run, also where its database is elsewhere.
 */
async function withKeptKey<T>({ SECRETS_KEY, DATABASE_URL, DATA_DIR }: NodeJS.ProcessEnv, work: () => Promise<T>) {
  if (SECRETS_KEY || !DATABASE_URL || !existsSync(secretsFile(DATA_DIR || '.data'))) return work();
  const claim = await claimed(resolve(DATA_DIR || '.data'));
  try {
    return await work();
  } finally {
    claim.release();
  }
}

/**
 * The new key of the embedded mode is kept before it is used, beside the old one, until nothing needs the old one any
 * more.
 */
async function keysFor({ SECRETS_KEY, DATA_DIR }: NodeJS.ProcessEnv) {
  if (SECRETS_KEY) return { keys: SECRETS_KEY, doneWithOld: async () => {} };
  const file = secretsFile(DATA_DIR || '.data');
  const kept = await readPrivateJson<Partial<Secrets>>(file);
  if (!kept?.SECRETS_KEY)
    throw new CliError('no SECRETS_KEY: set it to the new key and the old one, with a comma between');
  // A rotation that was broken off goes on with the key that it had made.
  const keys = kept.SECRETS_KEY.includes(',') ? kept.SECRETS_KEY : `${newSecret()},${kept.SECRETS_KEY}`;
  await writePrivateJson(file, { ...kept, SECRETS_KEY: keys });
  return { keys, doneWithOld: () => writePrivateJson(file, { ...kept, SECRETS_KEY: keys.split(',')[0] }) };
}
