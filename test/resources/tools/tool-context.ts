/** A context for tools as a run gives it: the real way out, files in memory, artifacts remembered. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createEgress, type Egress } from '../../../src/platform/egress/egress.ts';
import { FileNotFoundError, type FileStore } from '../../../src/platform/files/files.ts';
import type { ToolContext } from '../../../src/resources/tools/model.ts';
import { ANSWER_LIMITS } from '../../support/service/answer-limits.ts';

const createMemoryFiles = (): FileStore => {
  const files = new Map<string, Buffer>();
  return {
    async put(key, bytes) {
      files.set(key, bytes);
    },
    async putStream(key, stream) {
      files.set(key, await buffer(stream));
    },
    async get(key) {
      const bytes = files.get(key);
      if (!bytes) throw new FileNotFoundError(`no file ${key}`);
      return bytes;
    },
    async getStream(key) {
      return Readable.from([await this.get(key)]);
    },
    async sizeOf(key) {
      return (await this.get(key)).length;
    },
    async delete(key) {
      files.delete(key);
    },
    async deleteAll(folder) {
      for (const key of files.keys()) if (key.startsWith(`${folder}/`)) files.delete(key);
    },
    discard(key) {
      return this.delete(key);
    },
    discardAll(folder) {
      return this.deleteAll(folder);
    },
  };
};

type Artifact = Parameters<ToolContext['saveArtifact']>[0];

export const createToolContext = (
  given: Partial<ToolContext> & { allowlist?: string[] } = {},
): { context: ToolContext; egress: Egress; artifacts: Artifact[] } => {
  const { allowlist = [], ...rest } = given;
  const egress = createEgress({ allowlist, allowHttp: true, limits: ANSWER_LIMITS });
  const artifacts: Artifact[] = [];
  const context: ToolContext = {
    customerId: 'acme',
    runId: 'run1',
    callId: 'call1',
    agent: 'researcher',
    signal: new AbortController().signal,
    fetch: egress.fetch,
    credential: async () => undefined,
    files: createMemoryFiles(),
    now: () => new Date('2026-07-01T22:30:15.250Z'),
    saveArtifact: async (file) => ({ artifactId: `artifact-${artifacts.push(file)}` }),
    ...rest,
  };
  return { context, egress, artifacts };
};
