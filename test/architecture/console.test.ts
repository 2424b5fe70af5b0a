/** What a session may do by the control plane can be done in the console. A new endpoint enters by being declared. */
import { expect, test } from '@jest/globals';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endpoints, isOfOperator } from '../support/http/endpoints.ts';

const FOLDER = 'console/src';

/** What says that a file sends such a request, by itself or through a part of `ui/`. */
const SENDS = {
  get: /\bget\b|<Resource|<Loaded|<Files|href=|\bone</,
  post: /\bpost\b|\bmaking\b|<Files|method="POST"/,
  put: /\bput\b|method="PUT"/,
  patch: /\bpatch\b|<Change/,
  delete: /\bdel\b/,
} as const;

/** What is not in the console under its own address, and where it is instead. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'chat.turn': 'for calls by voice, which clients with a microphone make',
  'events.list': 'each run and project shows its own, from the stream',
  'manifests.apply': 'files in git are applied from where they are, with `aos apply`',
  'manifests.plan': '`aos plan` compares the files of a folder',
  'projects.events': 'the page of a project shows its phases, steps and attempts, which are made of them',
  'projects.subtaskEvents': 'the attempts of a step',
  'projects.resolveGate': 'the inbox answers gates, as they were seen',
  'runs.events': 'the timeline of a run, which has them with what they belong to',
  'runs.stats': 'the counts of the list of runs, and the costs of 24 hours',
};

const files = await Promise.all(
  (await readdir(FOLDER, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8')),
);

const isSent = ({ method, path }: { method: keyof typeof SENDS; path: string }): boolean => {
  const parts = path.split('/').filter((part) => part && part !== 'v1' && !part.startsWith('{'));
  return files.some(
    (text) => SENDS[method].test(text) && parts.every((part) => new RegExp(`[/'\`"]${part}\\b`).test(text)),
  );
};

const ofPeople = endpoints.filter(
  (endpoint) =>
    endpoint.surface === 'control-plane' &&
    ['session', 'admin', 'identity'].includes(endpoint.credential) &&
    !endpoint.deprecated &&
    !isOfOperator(endpoint),
);

// Guards: "all that the control plane can do can be done here". It finds what nobody thought of, not what is wrong.
test('every endpoint of the control plane is used by the console', () => {
  const missing = ofPeople.filter((endpoint) => !(endpoint.id in ELSEWHERE) && !isSent(endpoint)).map(({ id }) => id);
  expect(missing).toEqual([]);
});

// Guards: a reason that outlived its endpoint, or that was overtaken by a page.
test('what is said to be elsewhere is not there', () => {
  const stale = Object.keys(ELSEWHERE).filter((id) => {
    const endpoint = ofPeople.find((each) => each.id === id);
    return !endpoint || isSent(endpoint);
  });
  expect(stale).toEqual([]);
});
