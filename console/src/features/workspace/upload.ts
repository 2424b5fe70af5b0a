/**
 * Sends the archive of an import part by part, whatever page is open meanwhile. A part that is lost on its way is sent
 * again; where that does not help, the upload stands still, and goes on from the part that it has come to.
 */
import { sha256 } from '@noble/hashes/sha2';
import { useSyncExternalStore } from 'react';
import { del, get, post, put } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import type { WorkspaceImport } from '../../api/types.ts';

export interface Upload {
  file: File;
  /** `reading`: its digest is worked out; `asking`: the service is told of it, and asks for a code. */
  step: 'reading' | 'asking' | 'sending';
  /** So many bytes are through this step. */
  done: number;
  /** The service knows of it. */
  announced?: WorkspaceImport | undefined;
  /** It stands still because of this. */
  error?: unknown;
}

/** Where the imports of a workspace are. */
export const importsOf = (workspaceId: string): string => `/v1/workspaces/${workspaceId}/imports`;

const PIECE = 8 * 1024 ** 2;
/** So often in a row a part is sent again by itself. */
const MAX_FAILURES = 3;
const AGAIN_MS = 1_000;

let current: Upload | undefined;
const watchers = new Set<() => void>();

const hold = (event: BeforeUnloadEvent) => event.preventDefault();

function set(next: Upload | undefined): void {
  current = next;
  // Whoever leaves the console meanwhile is asked first.
  if (next && next.error === undefined) addEventListener('beforeunload', hold);
  else removeEventListener('beforeunload', hold);
  for (const watcher of watchers) watcher();
}

const watch = (watcher: () => void) => {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
};

export const useUpload = (): Upload | undefined => useSyncExternalStore(watch, () => current);

/** Whoever sends now; another one, or nobody, from when it is given up. */
let sender: object | undefined;

/** Nothing more is sent of it. */
export function forgetUpload(): void {
  sender = undefined;
  set(undefined);
}

/** Stops an import, and what is sent for it. */
export async function stopImport(path: string, id: string): Promise<void> {
  if (current?.announced?.id === id) forgetUpload();
  await del(`${path}/${id}`);
}

interface Sending {
  path: string;
  file: File;
  /** The import whose upload broke off. */
  announced?: WorkspaceImport | undefined;
}

/** Says how far it is. @throws Error where it was given up */
type Tell = (next: Partial<Upload>) => void;

/** Sends an archive, or what is left of it. @returns the import that has begun; undefined where it stands still, and says why */
export async function sendArchive({ path, file, announced }: Sending): Promise<WorkspaceImport | undefined> {
  // Two at once would send each part twice.
  if (current && current.error === undefined) return undefined;
  const mine = {};
  sender = mine;
  set({ file, step: 'reading', done: 0, announced });
  const tell: Tell = (next) => {
    if (sender !== mine || !current) throw new Error('it was given up');
    set({ ...current, ...next });
  };
  try {
    const digest = await digestOf(file, tell);
    if (announced && announced.sha256 !== digest) {
      throw refused('This is another file than the one whose upload was begun: choose that one, or stop the import.');
    }
    tell({ step: 'asking' });
    const taken = announced
      ? await get<WorkspaceImport>(`${path}/${announced.id}`)
      : await post<WorkspaceImport>(path, { size_bytes: file.size, sha256: digest });
    tell({ step: 'sending', announced: taken });
    await sendParts(`${path}/${taken.id}`, file, taken, tell);
    const started = await again(() => post<WorkspaceImport>(`${path}/${taken.id}/start`), tell);
    forgetUpload();
    return started;
  } catch (error) {
    if (sender === mine && current) set({ ...current, error });
    return undefined;
  }
}

const refused = (words: string) => new ApiProblem(words, { status: 400, code: 'not_sent' });

async function sendParts(
  path: string,
  file: File,
  { part_bytes: size, of_parts: all, parts: there }: WorkspaceImport,
  tell: Tell,
): Promise<void> {
  for (let part = there; part < all; part++) {
    tell({ done: part * size });
    const form = new FormData();
    form.append('file', file.slice(part * size, (part + 1) * size), 'part');
    await again(() => put(`${path}/parts/${part}`, form), tell);
  }
  tell({ done: file.size });
}

/** Repeats what did not reach the service: it may come twice. */
async function again<T>(send: () => Promise<T>, tell: Tell): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await send();
    } catch (error) {
      const isLost = error instanceof ApiProblem && (error.status === 0 || error.status >= 502);
      if (!isLost) throw error;
      if (failures > MAX_FAILURES)
        throw refused('The service cannot be reached. What was sent is kept: go on from there.');
      await new Promise((resolve) => setTimeout(resolve, failures * AGAIN_MS));
      tell({});
    }
  }
}

/** The browser's own digest takes a file whole, which may be larger than its memory. */
async function digestOf(file: File, tell: Tell): Promise<string> {
  const hash = sha256.create();
  for (let from = 0; from < file.size; from += PIECE) {
    const bytes = new Uint8Array(await file.slice(from, from + PIECE).arrayBuffer());
    if (from === 0 && !isPacked(bytes)) {
      throw refused('This file is no archive of a workspace. The name of one ends with .tar.gz.');
    }
    hash.update(bytes);
    tell({ done: from + bytes.length });
  }
  return [...hash.digest()].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

const isPacked = ([first, second]: Uint8Array): boolean => first === 0x1f && second === 0x8b;
