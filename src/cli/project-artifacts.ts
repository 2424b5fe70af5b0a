/** Writes artifacts as files, each with the extension with which it opens. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Artifact } from '../../client/src/api.ts';
import { openable } from '../platform/core/openable.ts';
import { listArtifacts } from '../resources/projects/reads/contract.ts';
import type { ServiceClient } from './client.ts';
import { ask } from './commands.ts';
import { orMissing } from './project-client.ts';

export interface WrittenArtifact extends Omit<Artifact, 'content'> {
  file: string;
  bytes: number;
}

export async function readArtifacts(service: ServiceClient, projectId: string, all: boolean): Promise<Artifact[]> {
  const made = ask(service, listArtifacts, [projectId], { current_only: String(!all) });
  return (await made.catch(orMissing(`project ${projectId}`))).data;
}

/** Writes one file for each artifact, named after its phase, and after its version too where there are several. */
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
