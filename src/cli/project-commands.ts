/**
 * Holds the parts of `aos project` that change a project: stop it, let it go on, repeat parts of it, change its
 * artifacts.
 */
import type { AttachmentsUploadResponse, ProjectsResumeResponse, Retriggered, Reverted } from '../../client/src/api.ts';
import type { Cascade } from '../resources/projects/model.ts';
import { describeAttachment, formOf } from './attached.ts';
import { openService } from './client.ts';
import { print, printJson } from './output.ts';
import { orMissing, pickStep, projectPath, readBoard, stepsOf } from './project-client.ts';
import { formatUsd } from './timeline.ts';

interface Output {
  json?: boolean;
}

interface Sent {
  projectId: string;
  /** The path below the project's own address. */
  path: string;
  body?: unknown;
  /** Names what the command is about beside the project, for example "phase cover in it". */
  names?: string;
}

/**
 * Sends a command and prints its outcome.
 * @throws CliError that says what does not exist
 */
async function command<Reply>(
  { projectId, path, body, names }: Sent,
  { json }: Output,
  tell: (reply: Reply) => string,
): Promise<void> {
  const service = await openService(process.env);
  const reply = await service
    .controlPlane<Reply>('POST', projectPath(projectId) + path, body)
    .catch(orMissing(`project ${projectId}${names ? `, or no ${names}` : ''}`));
  if (json) printJson(reply);
  else print(tell(reply));
}

const goesOn = (projectId: string) => `aos project watch ${projectId}`;

export const pause = (projectId: string, output: Output): Promise<void> =>
  command({ projectId, path: '/pause' }, output, () =>
    [
      `${projectId} is paused: steps in flight end, no other begins`,
      `go on with: aos project resume ${projectId}`,
    ].join('\n'),
  );

export async function resume(projectId: string, { budget, ...output }: Output & { budget?: string }): Promise<void> {
  if (budget !== undefined) await setBudget(projectId, budget);
  await command<ProjectsResumeResponse>({ projectId, path: '/resume' }, output, (recovered) => {
    const died = [
      [recovered.crashed_attempts_recovered, 'queued again after they died'],
      [recovered.repeat_crash_failures, 'failed, having died again and again'],
      [recovered.nonidempotent_pauses, 'left to a person: nobody knows what they did before they died'],
    ] as const;
    const told = died.filter(([count]) => count > 0).map(([count, what]) => `  steps ${what}: ${count}`);
    return [`${projectId} goes on; watch it with: ${goesOn(projectId)}`, ...told].join('\n');
  });
}

async function setBudget(projectId: string, budget: string): Promise<void> {
  const service = await openService(process.env);
  const amount = budget === 'none' ? null : budget;
  await service
    .controlPlane('PATCH', projectPath(projectId), { cost_budget_usd: amount })
    .catch(orMissing(`project ${projectId}`));
}

export const abandon = (projectId: string, output: Output): Promise<void> =>
  command({ projectId, path: '/abandon' }, output, () => `${projectId} is abandoned; artifacts are kept`);

export async function retry(
  projectId: string,
  stepName: string | undefined,
  { addendum, ...output }: Output & { addendum?: string },
): Promise<void> {
  const board = await readBoard(await openService(process.env), projectId);
  const failed = stepsOf(board).filter(({ status }) => status === 'failed');
  const step = pickStep(failed, stepName, 'failed step');
  const query = addendum ? `?${new URLSearchParams({ addendum_brief: addendum })}` : '';
  const isPaused = board.project.status === 'paused';
  await command({ projectId, path: `/subtasks/${step.id}/retry${query}` }, output, () =>
    [
      `${step.place} is queued again`,
      isPaused
        ? `the project is paused; go on with: aos project resume ${projectId}`
        : `watch it with: ${goesOn(projectId)}`,
    ].join('\n'),
  );
}

export const retrigger = (
  projectId: string,
  phase: string,
  { addendum, cascade, ...output }: Output & { addendum?: string; cascade: Cascade },
): Promise<void> =>
  command<Retriggered>(
    { ...onPhase(projectId, phase, 'retrigger'), body: { addendum_brief: addendum, cascade } },
    output,
    (reply) =>
      [
        // What nobody knows the price of is estimated at nothing.
        `${phase} runs again${Number(reply.cost_estimate_usd) > 0 ? `, for about ${formatUsd(reply.cost_estimate_usd)}` : ''}`,
        ...follows(reply),
        `watch it with: ${goesOn(projectId)}`,
      ].join('\n'),
  );

export const revert = (
  projectId: string,
  phase: string,
  version: number,
  { cascade, reason, ...output }: Output & { cascade: Cascade; reason?: string },
): Promise<void> =>
  command<Reverted>(
    {
      ...onPhase(projectId, phase, 'revert-artifact'),
      body: { target_version: version, cascade, reason },
      names: `version ${version} of a phase ${phase} in it`,
    },
    output,
    (reply) => [`version ${version} of ${phase} is the current one`, ...follows(reply)].join('\n'),
  );

const onPhase = (projectId: string, phase: string, action: string): Sent => ({
  projectId,
  path: `/phases/${encodeURIComponent(phase)}/${action}`,
  names: `phase ${phase} in it`,
});

const follows = ({ marked_stale, auto_retriggered }: Pick<Reverted, 'marked_stale' | 'auto_retriggered'>): string[] => [
  ...(auto_retriggered.length > 0 ? [`also run again: ${auto_retriggered.join(', ')}`] : []),
  ...(marked_stale.length > 0 ? [`now stale: ${marked_stale.join(', ')}`] : []),
];

export async function attach(projectId: string, files: readonly string[], output: Output): Promise<void> {
  const body = await formOf(files);
  await command<AttachmentsUploadResponse>({ projectId, path: '/attachments', body }, output, ({ data }) =>
    data.map((file) => `attached ${describeAttachment(file)}`).join('\n'),
  );
}
