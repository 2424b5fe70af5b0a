/** The tools that read a run's project and answer its webhook gates: found by slug, on rows as the engine leaves them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { newRunId, newUuid } from '../../../src/platform/core/ids.ts';
import { present } from '../../../src/platform/core/present.ts';
import { Problem } from '../../../src/platform/core/problem.ts';
import { createAttachmentStore } from '../../../src/resources/attachments/store.ts';
import { attachments } from '../../../src/resources/attachments/table.ts';
import { createProjectReader } from '../../../src/resources/projects/store/project-reader.ts';
import { artifacts } from '../../../src/resources/projects/table.ts';
import { checkArguments, schemaProblem } from '../../../src/resources/tools/arguments.ts';
import { createBuiltinTools } from '../../../src/resources/tools/builtin/index.ts';
import { NOTHING_BEHIND } from '../../support/service/builtin-tools.ts';
import { PAGE_LENGTH } from '../../../src/resources/tools/builtin/text-page.ts';
import { ToolError, type Tool, type ToolContext } from '../../../src/resources/tools/model.ts';
import { createToolRegistry, type ToolRegistry } from '../../../src/resources/tools/registry.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { gate, insertAttempt, insertProject, type InsertedProject } from '../../support/fixtures/projects-store.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';
import { createToolContext } from './tool-context.ts';

let database: TestDatabase;
let tools: ToolRegistry;
let project: InsertedProject;
let theirs: InsertedProject;
let context: ToolContext;
let outside: ToolContext;
/** What was sent to the workflow, and what it says. */
let answered: unknown[];
let workflowSays: () => Promise<unknown>;

beforeAll(async () => {
  database = await openTestDatabase();
  const { db } = database;
  for (const id of ['acc_acme', 'acc_other']) await makeWorkspace(db, id);
  const reader = createProjectReader(db);
  tools = createToolRegistry([
    createBuiltinTools({
      ...NOTHING_BEHIND,
      projects: {
        ...reader,
        async resolveWebhookGate(...answer) {
          answered.push(answer);
          return workflowSays();
        },
      },
      attachments: createAttachmentStore(db),
    }),
  ]);
  const phases = [
    { slug: 'outline', versions: 3 },
    { slug: 'draft', steps: [{ slug: 'write' }, gate('hook', { gateKind: 'webhook' }), gate('ask')] },
  ];
  project = await insertProject(db, { customerId: 'acme', phases });
  theirs = await insertProject(db, { customerId: 'other', phases });
  const attemptId = await insertAttempt(db, project, 'draft/write');
  context = createToolContext({ runId: await insertRun(attemptId) }).context;
  outside = { ...context, runId: await insertRun(null) };
});
afterAll(() => database.close());
beforeEach(() => {
  answered = [];
  workflowSays = async () => ({ projectStatus: 'active' });
});

async function insertRun(attemptId: string | null): Promise<string> {
  const id = newRunId();
  await database.db.rows(sql`
    insert into runs (id, customer_id, agent, transport, prompt, attempt_id)
    values (${id}, 'acme', 'writer', 'rest', 'Write.', ${attemptId}::uuid)`);
  return id;
}

const tool = async (slug: string): Promise<Tool> => present(await tools.get('acme', slug));
const use = async (slug: string, args: object, by = context) => (await tool(slug)).execute(args, by);
const refusal = (slug: string, args: object, by = context) =>
  use(slug, args, by).then(
    () => Promise.reject(new Error('not refused')),
    (error: unknown) => {
      expect(error).toBeInstanceOf(ToolError);
      return (error as ToolError).message;
    },
  );

// Guards: a model can be shown these tools and their calls can be checked; only answering a gate changes anything.
test.each([
  ['read_artifact', 'read', false],
  ['read_attachment', 'read', false],
  ['pipeline_resolve_webhook_gate', 'idempotent', true],
])('%s is well described', async (slug, effect, sensitive) => {
  const found = await tool(slug);
  expect(found).toMatchObject({ effect, sensitive, module: `app.tools.projects.${slug}`, dispatch: 'activity' });
  expect(await schemaProblem(found.parameters)).toBeUndefined();
  expect(await checkArguments(found, { surprise: 1 })).toContain('surprise');
});

describe('read_artifact', () => {
  // Guards: an artifact is read in its current or a named version, from the run's own project only.
  test('reads a version', async () => {
    const of = (version: number) => ({
      phase_slug: 'outline',
      version,
      content: `outline ${version}`,
      next_offset: null,
    });
    expect(await use('read_artifact', { phase_slug: 'outline' })).toEqual(of(3));
    expect(await use('read_artifact', { phase_slug: 'outline', version: 1 })).toEqual(of(1));
  });

  // Guards: for an unknown name the model is told what exists.
  test('names what can be read', async () => {
    expect(await refusal('read_artifact', { phase_slug: 'draft' })).toBe(
      'draft has no artifact; phases with one: outline',
    );
    expect(await refusal('read_artifact', { phase_slug: 'outline', version: 4 })).toContain('no version 4');
    expect(await refusal('read_artifact', { phase_slug: 'outline' }, outside)).toContain('not part of a project');
    expect(await refusal('read_artifact', { phase_slug: 'outline' }, { ...context, customerId: 'other' })).toContain(
      'not part of a project',
    );
    for (const args of [{ phase_slug: 'a\0' }, { phase_slug: 'outline', version: 2 ** 53 }, { phase_slug: 7 }]) {
      expect(await refusal('read_artifact', args)).toContain('bad arguments');
    }
  });

  // Guards: pages join to the whole, whatever the content, and none is so long that it would be cut.
  test.each([
    ['plain text', 'x'.repeat(PAGE_LENGTH * 2)],
    ['line breaks and quotes', '"line"\n'.repeat(20_000)],
    ['characters of two halves', `x${'🪁'.repeat(70_000)}`],
    ['JSON', { rows: Array.from({ length: 5_000 }, (_, row) => ({ row, text: 'some "text"' })) }],
  ])('pages through %s', async (_, content) => {
    const { db } = database;
    await db.rows(sql`delete from artifacts where task_id = ${project.taskId('draft')}::uuid`);
    await db.orm.insert(artifacts).values({
      id: newUuid(),
      projectId: project.id,
      taskId: project.taskId('draft'),
      customerId: 'acme',
      phaseSlug: 'draft',
      version: 1,
      schemaSlug: 'draft',
      content,
      producedVia: 'initial',
    });
    const pages: string[] = [];
    for (let offset: number | null = 0; offset !== null;) {
      const page = (await use('read_artifact', { phase_slug: 'draft', offset })) as {
        content: string;
        next_offset: number | null;
      };
      expect(JSON.stringify(page).length).toBeLessThan(61_000);
      expect(page.content.isWellFormed()).toBe(true);
      pages.push(page.content);
      offset = page.next_offset;
    }
    expect(pages.length).toBeGreaterThan(1);
    const text = pages.join('');
    expect(typeof content === 'string' ? text : JSON.parse(text)).toEqual(content);
    expect(await refusal('read_artifact', { phase_slug: 'draft', offset: text.length + 1 })).toContain('past the end');
  });
});

describe('read_attachment', () => {
  const attach = async (to: InsertedProject, filename: string, contentType: string, content: string) => {
    const id = newUuid();
    const fileKey = `attachments/${id}`;
    await context.files.put(fileKey, Buffer.from(content), contentType);
    await database.db.orm.insert(attachments).values({
      id,
      customerId: to.customerId,
      ownerKind: 'project',
      ownerId: to.id,
      filename,
      contentType,
      sizeBytes: Buffer.byteLength(content),
      sha256: 'x',
      fileKey,
    });
    return id;
  };

  // Guards: the list names what can be read, by id or by name; of two attachments with one name the latest is meant.
  test('lists and reads the files of the project', async () => {
    expect(await use('read_attachment', {})).toEqual({ attachments: [], total: 0 });
    const first = await attach(project, 'brief.md', 'text/markdown', 'First brief, ä');
    const second = await attach(project, 'brief.md', 'text/markdown', 'Second brief');
    const picture = await attach(project, 'logo.png', 'image/png', '\x89\0\x01\x02\x03');
    const foreign = await attach(theirs, 'secret.md', 'text/markdown', 'Secret');

    const listed = (id: string, filename: string, content_type: string, size_bytes: number) => ({
      id,
      filename,
      content_type,
      size_bytes,
      reads_as: null,
    });
    expect(await use('read_attachment', {})).toEqual({
      attachments: [
        listed(first, 'brief.md', 'text/markdown', 15),
        listed(second, 'brief.md', 'text/markdown', 12),
        listed(picture, 'logo.png', 'image/png', 6),
      ],
      total: 3,
    });
    const about = { filename: 'brief.md', content_type: 'text/markdown', kind: 'text', next_offset: null };
    expect(await use('read_attachment', { id: first })).toEqual({
      id: first,
      ...about,
      content: 'First brief, ä',
      total_characters: 14,
    });
    expect(await use('read_attachment', { filename: 'brief.md', offset: 7 })).toEqual({
      id: second,
      ...about,
      content: 'brief',
      total_characters: 12,
    });

    expect(await refusal('read_attachment', { filename: 'logo.png' })).toBe(
      'logo.png (image/png, 6 bytes) cannot be read: it is no text and no document of a known kind',
    );
    for (const args of [{ id: foreign }, { filename: 'secret.md' }, { id: newUuid() }, { filename: 'a\0' }]) {
      expect(await refusal('read_attachment', args)).toContain('no such attachment');
    }
    expect(await refusal('read_attachment', {}, outside)).toContain('belongs to no project');
  });
});

describe('pipeline_resolve_webhook_gate', () => {
  const answer = (more: object = {}) => ({
    project_id: project.id,
    subtask_id: project.stepId('draft/hook'),
    ...more,
  });

  // Guards: the answer to a gate is sent as asked, with the defaults of the specification.
  test('answers a webhook gate', async () => {
    const { project_id, subtask_id } = answer();
    expect(await use('pipeline_resolve_webhook_gate', answer())).toEqual({
      project_id,
      subtask_id,
      decision: 'approved',
    });
    const said = { decision: 'rejected', decided_by: 'ci', payload: { build: 7 }, comment: 'Red.' };
    await use('pipeline_resolve_webhook_gate', answer(said), outside);
    expect(answered).toEqual([
      ['acme', project_id, { subtask_id, decision: 'approved', decided_by: 'webhook', payload: null, comment: null }],
      ['acme', project_id, { subtask_id, ...said }],
    ]);
  });

  // Guards: no agent answers for a person, for another step or in another workspace, and nothing is sent.
  test('refuses what is no webhook gate of the workspace', async () => {
    for (const [args, why] of [
      [{ subtask_id: project.stepId('draft/ask') }, 'a gate of kind human, not webhook'],
      [{ subtask_id: project.stepId('draft/write') }, 'is not a gate'],
      [{ subtask_id: newUuid() }, 'has no subtask'],
      [{ project_id: theirs.id }, 'has no subtask'],
      [{ project_id: theirs.id, subtask_id: theirs.stepId('draft/hook') }, 'has no subtask'],
      [{ project_id: 'a\0' }, 'bad arguments'],
      [{ decided_by: 'x'.repeat(65) }, 'bad arguments'],
      [{ decision: 'maybe' }, 'bad arguments'],
      [{ payload: { large: 'x'.repeat(40_000) } }, 'bad arguments'],
      [{ payload: [] }, 'bad arguments'],
    ] as const) {
      expect(await refusal('pipeline_resolve_webhook_gate', answer(args))).toContain(why);
    }
    expect(answered).toEqual([]);
  });

  // Guards: a gate that does not wait is reported to the model; an absent runtime is retried.
  test('tells refusals from failures', async () => {
    for (const code of ['gate_not_waiting', 'project_ended'] as const) {
      workflowSays = async () => Promise.reject(new Problem(code));
      expect(await refusal('pipeline_resolve_webhook_gate', answer())).toContain('is not waiting');
    }
    workflowSays = async () => Promise.reject(new Problem('runtime_unreachable'));
    await expect(use('pipeline_resolve_webhook_gate', answer())).rejects.toThrow(Problem);
  });
});
