import { z } from 'zod';
import { ToolError } from '../model.ts';
import { builtinTool } from './builtin-tool.ts';
import { Offset, PAGE_LENGTH, pageOf } from './text-page.ts';

export interface ReadArtifactSource {
  projectOfRun(customerId: string, runId: string): Promise<string | undefined>;
  findArtifact(
    customerId: string,
    projectId: string,
    phaseSlug: string,
    version?: number,
  ): Promise<{ version: number; content: unknown } | undefined>;
  listArtifactPhases(customerId: string, projectId: string): Promise<string[]>;
}

/** A tool that reads a project answers this in any other run. */
const NOT_IN_A_PROJECT = 'this run is not part of a project, so there is nothing of one to read';

export const createReadArtifact = (source: ReadArtifactSource) =>
  builtinTool({
    slug: 'read_artifact',
    area: 'projects',
    description:
      'Reads what a phase of this project made: text as it is, anything else as JSON. Use it to see the work of other ' +
      `phases, or an earlier version of it. Returns {phase_slug, version, content, next_offset}, at most ${PAGE_LENGTH} ` +
      'characters at a time; next_offset is null at the end.',
    effect: 'read',
    isQuick: true,
    args: z.strictObject({
      phase_slug: z
        .string()
        .max(200)
        .regex(/^[\w.-]+$/, 'expects the slug of a phase'),
      version: z.number().int().min(1).max(1_000_000).optional().describe('By default the current one'),
      offset: Offset,
    }),
    async execute({ phase_slug, version, offset }, { customerId, runId }) {
      const projectId = await source.projectOfRun(customerId, runId);
      if (!projectId) throw new ToolError(NOT_IN_A_PROJECT);
      const artifact = await source.findArtifact(customerId, projectId, phase_slug, version);
      if (!artifact) {
        const phases = await source.listArtifactPhases(customerId, projectId);
        const what = version === undefined ? 'no artifact' : `no version ${version} of the artifact`;
        throw new ToolError(`${phase_slug} has ${what}; phases with one: ${phases.join(', ') || 'none yet'}`);
      }
      const { content } = artifact;
      const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
      return { phase_slug, version: artifact.version, ...pageOf(text, offset) };
    },
  });
