/** The attributes by which an operator finds an execution in the Temporal Web UI. Set-up registers them. */
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import type { Temporal } from './client.ts';

const WorkspaceId = defineSearchAttributeKey('WorkspaceId', SearchAttributeType.KEYWORD);
const AgentSlug = defineSearchAttributeKey('AgentSlug', SearchAttributeType.KEYWORD);
const WorkflowSlug = defineSearchAttributeKey('WorkflowSlug', SearchAttributeType.KEYWORD);
const ProjectId = defineSearchAttributeKey('ProjectId', SearchAttributeType.KEYWORD);
const ALL = [WorkspaceId, AgentSlug, WorkflowSlug, ProjectId];

const KEYWORD = 2;

export const searchAttributes = (values: {
  workspaceId: string;
  agent?: string | null;
  workflowSlug?: string;
  projectId?: string;
}): TypedSearchAttributes =>
  new TypedSearchAttributes([
    { key: WorkspaceId, value: values.workspaceId },
    ...(values.agent ? [{ key: AgentSlug, value: values.agent }] : []),
    ...(values.workflowSlug ? [{ key: WorkflowSlug, value: values.workflowSlug }] : []),
    ...(values.projectId ? [{ key: ProjectId, value: values.projectId }] : []),
  ]);

/** The query by which Temporal lists the executions or schedules of one workspace. */
export const ofWorkspace = (workspaceId: string): string =>
  `${WorkspaceId.name} = '${workspaceId.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Registers what is missing and returns when the server takes them. Safe to repeat, and from two processes at once. */
export async function registerSearchAttributes(temporal: Temporal): Promise<void> {
  const { operatorService } = temporal.connection;
  const registered = async () => {
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace: temporal.namespace });
    return new Set(Object.keys(customAttributes ?? {}));
  };
  const known = await registered();
  const missing = ALL.filter(({ name }) => !known.has(name));
  if (missing.length === 0) return;
  await operatorService
    .addSearchAttributes({
      namespace: temporal.namespace,
      searchAttributes: Object.fromEntries(missing.map(({ name }) => [name, KEYWORD])),
    })
    .catch(async (error: unknown) => {
      // Another process may have registered them first.
      const now = await registered();
      if (missing.some(({ name }) => !now.has(name))) throw error;
    });
  for (let tries = 0; tries < 100; tries++) {
    const now = await registered();
    if (missing.every(({ name }) => now.has(name))) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('Temporal accepted the search attributes but does not list them');
}
