/**
 * The code that the console gives away, run as it stands. A language that this machine does not have is left out here, and
 * the others are run all the same.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SNIPPETS } from '../../console/src/features/webhooks/snippets.ts';
import { signWebhook } from '../../src/resources/webhook-subscriptions/signature.ts';

type Language = keyof typeof SNIPPETS;
interface Case {
  secret: string;
  header: string;
  body: string;
}

const BODY = '{"event":"run.succeeded","text":"Grüße"}';
const SECRET = 'whsec_one';
const now = () => Math.floor(Date.now() / 1_000);
const signed = (secret = SECRET, at = now(), body = BODY): string => signWebhook([secret], body, at);
/** As it is while `whsec_two` replaces the secret. */
const rotating = (): string => signWebhook(['whsec_two', SECRET], BODY, now());

const CASES: readonly (readonly [what: string, is: boolean, make: () => Case])[] = [
  ['a request of the service', true, () => ({ secret: SECRET, header: signed(), body: BODY })],
  ['one of a rotation, with the new secret', true, () => ({ secret: 'whsec_two', header: rotating(), body: BODY })],
  ['one of a rotation, with the old secret', true, () => ({ secret: SECRET, header: rotating(), body: BODY })],
  ['another secret', false, () => ({ secret: 'whsec_other', header: signed(), body: BODY })],
  ['another body', false, () => ({ secret: SECRET, header: signed(), body: `${BODY} ` })],
  ['an old request', false, () => ({ secret: SECRET, header: signed(SECRET, now() - 400), body: BODY })],
  ['one from the future', false, () => ({ secret: SECRET, header: signed(SECRET, now() + 400), body: BODY })],
  ['no header', false, () => ({ secret: SECRET, header: '', body: BODY })],
  ['a header of another form', false, () => ({ secret: SECRET, header: 'sha256=00ff', body: BODY })],
];

const runJs = `const cases = JSON.parse(process.argv[2]);
const said = [];
for (const { secret, header, body } of cases) said.push(await isGenuine(secret, header, new TextEncoder().encode(body)));
console.log(JSON.stringify(said));`;

/** The files of a program that answers each case of its last argument, and how it is started. */
const PROGRAMS: Record<Language, { needs: string; files: Record<string, string>; start: readonly string[] }> = {
  Node: { needs: process.execPath, files: { 'main.mjs': `${SNIPPETS.Node}\n${runJs}` }, start: ['main.mjs'] },
  'Web Crypto': {
    needs: process.execPath,
    files: { 'main.mjs': `${SNIPPETS['Web Crypto']}\n${runJs}` },
    start: ['main.mjs'],
  },
  Python: {
    needs: 'python3',
    files: {
      'main.py': `${SNIPPETS.Python}

import json, sys
print(json.dumps([is_genuine(c["secret"], c["header"], c["body"].encode()) for c in json.loads(sys.argv[1])]))
`,
    },
    start: ['main.py'],
  },
  Go: {
    needs: 'go',
    files: {
      'main.go': `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"time"
)

${SNIPPETS.Go}

func main() {
	var cases []struct{ Secret, Header, Body string }
	if err := json.Unmarshal([]byte(os.Args[1]), &cases); err != nil {
		panic(err)
	}
	said := []bool{}
	for _, c := range cases {
		said = append(said, isGenuine(c.Secret, c.Header, []byte(c.Body)))
	}
	json.NewEncoder(os.Stdout).Encode(said)
}
`,
    },
    start: ['run', 'main.go'],
  },
};

function isThere(program: string): boolean {
  try {
    execFileSync(program, [program === 'go' ? 'version' : '--version'], { stdio: 'ignore' });
    return true;
  } catch {
    process.stderr.write(`\n*** Left out: there is no ${program} here, so its snippet is not run\n\n`);
    return false;
  }
}

// Guards: the guide shows a verifier that runs below.
test('the guide has the verifier in Python', () => {
  const guide = readFileSync(new URL('../../docs/guide/webhooks.md', import.meta.url), 'utf8');
  expect(guide).toContain(`\`\`\`python\n${SNIPPETS.Python}\n\`\`\``);
});

describe('the verifier of webhooks', () => {
  let folder: string;
  beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'snippets-'))));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const languages = Object.entries(PROGRAMS).filter(([, { needs }]) => isThere(needs));

  // Guards: code that people paste into what guards their own systems, and that nobody has run.
  test.each(languages)('in %s', async (_language, { needs, files, start }) => {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const env = { ...process.env, GOCACHE: join(folder, 'go'), GOFLAGS: '-mod=mod', GOTELEMETRY: 'off' };
    const cases = JSON.stringify(CASES.map(([, , make]) => make()));
    const { stdout } = await promisify(execFile)(needs, [...start, cases], { cwd: folder, env });
    const said: boolean[] = JSON.parse(stdout);
    expect(CASES.map(([what], i) => [what, said[i]])).toEqual(CASES.map(([what, is]) => [what, is]));
  });
});
