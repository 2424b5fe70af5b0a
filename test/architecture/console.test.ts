/** What a session may do by the control plane can be done in the console. A new endpoint enters by being declared. */
import { expect, test } from '@jest/globals';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
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

const texts = new Map<string, string>();
for (const entry of await readdir(FOLDER, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !/\.tsx?$/.test(entry.name)) continue;
  const path = join(entry.parentPath, entry.name);
  texts.set(relative(FOLDER, path), await readFile(path, 'utf8'));
}
const files = [...texts.values()];

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

/** Shows its buttons only to those who may press them. `Acts`, `Change` and `Resource` do so by themselves. */
const GUARDS = /\bmayChange\b|<ForWriters|<StartPage/;
/** A button whose request is one that changes something: sent by the file itself. */
const CHANGES = /\b(post|put|patch|del)(<[^>]*>)?\(/;

/** What is shown by another file, which guards it; or changes nothing. */
const GUARDED_BY: Readonly<Record<string, string>> = {
  'features/inbox/answer.tsx': 'features/inbox/wait-view.tsx',
  'features/projects/budget.tsx': 'routes/project.tsx',
  'features/runs/bulk.tsx': 'routes/runs.tsx',
  'features/tour/tour.tsx': 'routes/welcome.tsx',
};
/** Their own buttons only look; what changes something is an act. */
const ONLY_LOOK = ['features/chat/conversation.tsx', 'features/memory/memory.tsx', 'features/workspace/members.tsx'];

// Guards: a button that a viewer would be refused at, in whatever state it is shown: the test that presses them sees only the
// states that it makes.
test('whoever sends a change guards its buttons, or names who does', () => {
  const bare = [...texts].flatMap(([path, text]) => {
    const isSender = /^(features|routes)\//.test(path) && CHANGES.test(text) && /<(Button|button)\b/.test(text);
    if (!isSender || GUARDS.test(text) || ONLY_LOOK.includes(path)) return [];
    const by = GUARDED_BY[path];
    return by !== undefined && GUARDS.test(texts.get(by) ?? '') ? [] : [path];
  });
  expect(bare).toEqual([]);
  const named = [...Object.keys(GUARDED_BY), ...Object.values(GUARDED_BY), ...ONLY_LOOK];
  expect(named.filter((path) => !texts.has(path))).toEqual([]);
});
