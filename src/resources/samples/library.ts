/**
 * Reads the recorded samples that ship in `samples/`: one folder for each built-in workflow, and prompts for single
 * runs. `samples/README.md` describes the files.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { errorCodeOf } from '../../platform/core/causes.ts';
import { parseJson } from '../../platform/core/json.ts';
import { isRecord } from '../../platform/core/record.ts';

const FOLDER = fileURLToPath(new URL('../../../samples', import.meta.url));

const WorkflowSampleFile = z.strictObject({
  title: z.string(),
  /** What somebody gets to see, in one sentence. */
  summary: z.string(),
  brief: z.string(),
  params: z.record(z.string(), z.unknown()),
});

/** What a project of a built-in workflow is started with to be answered from the recording. */
export interface WorkflowSample extends z.output<typeof WorkflowSampleFile> {
  workflow: string;
}

const PromptSampleFile = z.strictObject({
  title: z.string(),
  summary: z.string(),
  agent: z.string(),
  prompt: z.string(),
  /**
   * One for each call of the model. A text may contain `{{result}}` or `{{result.data.answer}}`: what the latest tool
   * call answered, or a field of it.
   */
  turns: z
    .array(
      z.strictObject({
        text: z.string().default(''),
        calls: z.array(z.strictObject({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) })).default([]),
      }),
    )
    .min(1),
  /** Answers a run that another sample spawns; nobody is offered it. */
  is_part: z.boolean().default(false),
});

/** A single run that is answered from the recording if agent and prompt are exactly these. */
export interface PromptSample extends z.output<typeof PromptSampleFile> {
  slug: string;
}

/** The step of a built-in workflow that a recorded reply belongs to. */
export interface SamplePlace {
  workflow: string;
  phase: string;
  step: string;
  /** Counts the results of the step in its project, from 1. Past the last recorded one, that one is given again. */
  take: number;
}

export interface SampleLibrary {
  workflows: readonly WorkflowSample[];
  prompts: readonly PromptSample[];
  hasReply(place: Omit<SamplePlace, 'take'>): boolean;
  /**
   * @returns the reply as the text of a model: JSON if the step has an output schema, otherwise Markdown
   * @throws Error when the sample has no reply for the step
   */
  readReply(place: SamplePlace): Promise<string>;
}

/** Replaces `{"$file": "cover.svg"}` with the text of that file, so that articles and drawings stay readable. */
async function insertFiles(value: unknown, folder: string): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((item) => insertFiles(item, folder)));
  if (!isRecord(value)) return value;
  if (typeof value.$file === 'string') return (await readFile(join(folder, value.$file), 'utf8')).trimEnd();
  const entries = Object.entries(value).map(async ([key, item]) => [key, await insertFiles(item, folder)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function readReplyFile(path: string, folder: string): Promise<string> {
  const text = await readFile(path, 'utf8');
  return path.endsWith('.json') ? JSON.stringify(await insertFiles(parseJson(text), folder)) : text.trimEnd();
}

/** @returns the names in a folder, sorted; none if there is no such folder, as in an image without samples */
const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).then(
    (names) => names.sort(),
    (error: unknown) => {
      if (errorCodeOf(error) === 'ENOENT') return [];
      throw error;
    },
  );

/** Reads what identifies each sample; replies are read when they are asked for. @throws Error that names a bad file */
export async function openSamples(root = FOLDER): Promise<SampleLibrary> {
  const read = async <T>(path: string, schema: z.ZodType<T>): Promise<T> => {
    const parsed = schema.safeParse(parseJson(await readFile(join(root, path), 'utf8')));
    if (!parsed.success) throw new Error(`samples/${path}: ${z.prettifyError(parsed.error)}`);
    return parsed.data;
  };
  const workflows = await Promise.all(
    (await namesIn(join(root, 'workflows'))).map(async (workflow) => ({
      workflow,
      ...(await read(`workflows/${workflow}/sample.json`, WorkflowSampleFile)),
    })),
  );
  const prompts = await Promise.all(
    (await namesIn(join(root, 'prompts'))).map(async (file) => ({
      slug: file.replace(/\.json$/, ''),
      ...(await read(`prompts/${file}`, PromptSampleFile)),
    })),
  );
  const folders = new Map(
    await Promise.all(
      workflows.map(async ({ workflow }) => {
        const folder = join(root, 'workflows', workflow);
        return [workflow, { folder, names: await namesIn(folder) }] as const;
      }),
    ),
  );

  const takesOf = ({ workflow, phase, step }: Omit<SamplePlace, 'take'>): string[] => {
    const { folder, names } = folders.get(workflow) ?? { folder: '', names: [] };
    const takes: string[] = [];
    for (let n = 1; ; n += 1) {
      const name = names.find((each) => each === `${phase}.${step}.${n}.json` || each === `${phase}.${step}.${n}.md`);
      if (name === undefined) return takes;
      takes.push(join(folder, name));
    }
  };

  return {
    workflows,
    prompts,
    hasReply: (place) => takesOf(place).length > 0,
    async readReply(place) {
      const takes = takesOf(place);
      const path = takes[Math.min(place.take, takes.length) - 1];
      if (path === undefined)
        throw new Error(`samples/workflows/${place.workflow} has no ${place.phase}.${place.step}.1`);
      return readReplyFile(path, join(root, 'workflows', place.workflow));
    },
  };
}
