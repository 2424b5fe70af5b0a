/** The scan of the repository for secrets (`npm run check:secrets`) finds what it is there to find. */
import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const scan = (text: string) =>
  spawnSync(
    process.execPath,
    ['node_modules/secretlint/bin/secretlint.js', '--stdinFileName=planted.ts', '--maskSecrets'],
    {
      cwd: ROOT,
      input: text,
      encoding: 'utf8',
    },
  );

// Put together here, so that this file passes the scan.
const PLANTED = [
  ['an AWS key', `AWS_SECRET_ACCESS_KEY="${'wJalrXUtnFEMI/K7MDENG/bPxRfiCY'}${'QQQQQQQQKE'}"`],
  ['a GitHub token', `token = '${'ghp_'}${'aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5'}'`],
  ['a Postgres address', `url = '${'postgres'}${'://owner:correcthorse@db.internal.net:5432/live'}'`],
  [
    'a private key',
    `${'-----BEGIN RSA '}PRIVATE KEY-----\n${'MIIEpAIBAAKCAQEA'.repeat(20)}\n-----END RSA PRIVATE KEY-----`,
  ],
] as const;

// Guards: the allow list lets through what is written in it and nothing else.
test.each(PLANTED)('%s is found', (_, text) => {
  const { status, stdout } = scan(text);
  expect(stdout).toContain('error');
  expect(status).toBe(1);
});
test('an allowed text is not', () => {
  expect(scan(`'https://name:word@example.com/'`).status).toBe(0);
});
