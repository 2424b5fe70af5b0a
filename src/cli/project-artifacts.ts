/** Artifacts as files: what a phase made, with the extension with which it opens. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceClient } from './client.ts';
import { orMissing, projectPath } from './project-client.ts';

export interface Artifact {
  id: string;
  phase_slug: string;
  version: number;
  schema_slug: string;
  content: unknown;
  superseded: boolean;
  produced_via: string;
  created_at: string;
}

export interface WrittenArtifact extends Omit<Artifact, 'content'> {
  file: string;
  bytes: number;
}

export async function readArtifacts(service: ServiceClient, projectId: string, all: boolean): Promise<Artifact[]> {
  const path = `${projectPath(projectId)}/artifacts?current_only=${String(!all)}`;
  const { data } = await service
    .controlPlane<{ data: Artifact[] }>('GET', path)
    .catch(orMissing(`project ${projectId}`));
  return data;
}

/** One file each, named after its phase; where there are several versions, after the version too. */
export async function writeArtifacts(artifacts: readonly Artifact[], folder: string): Promise<WrittenArtifact[]> {
  await mkdir(folder, { recursive: true });
  const written: WrittenArtifact[] = [];
  for (const { content, ...artifact } of artifacts) {
    const { text, extension } = openable(content);
    const isOnly = artifacts.filter(({ phase_slug }) => phase_slug === artifact.phase_slug).length === 1;
    const name = isOnly ? artifact.phase_slug : `${artifact.phase_slug}.v${artifact.version}`;
    const file = join(folder, `${name}.${extension}`);
    await writeFile(file, text);
    written.push({ ...artifact, file, bytes: Buffer.byteLength(text) });
  }
  return written;
}

export interface Openable {
  text: string;
  extension: 'html' | 'svg' | 'json' | 'md';
}

/** A rendered file, an article and a drawing come out of their wrapping; other values stay what they are. */
export function openable(content: unknown): Openable {
  if (typeof content === 'string') return { text: content, extension: extensionOf(content) };
  const { content: inner, svg, ...names } = (content ?? {}) as Record<string, unknown>;
  const isWrapping = Object.keys(names).every((name) => NAMES.has(name));
  if (isWrapping && typeof inner === 'string' && svg === undefined) return openable(inner);
  if (isWrapping && typeof svg === 'string' && inner === undefined && extensionOf(svg) === 'svg') return openable(svg);
  return { text: `${JSON.stringify(content, null, 2)}\n`, extension: 'json' };
}

/** Beside the one part that is the work, these only name it. */
const NAMES = new Set(['filename', 'content_type', 'title', 'alt']);

function extensionOf(text: string): Openable['extension'] {
  const start = text
    .trimStart()
    .slice(0, 200)
    .toLowerCase()
    .replace(/^<\?xml[^>]*>\s*/, '');
  if (start.startsWith('<svg')) return 'svg';
  if (/^(<!doctype html|<html)/.test(start)) return 'html';
  return /^[[{]/.test(start) && isJson(text) ? 'json' : 'md';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
