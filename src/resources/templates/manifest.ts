/** How a file says a workflow: what ships with the service and what a workspace applies are read by it. */
import { z } from 'zod';
import { WorkflowSpec as Shape, workflowMetadata } from './contract.ts';
import type { WorkflowSpec } from './model.ts';

const { version: _version, description, ...spec } = Shape.shape;
export const WorkflowManifest = z
  .strictObject({
    slug: spec.slug,
    title: spec.title,
    description: description.unwrap().default(''),
    collection: workflowMetadata.collection.default(null),
    tags: workflowMetadata.tags.default([]),
    params: spec.params,
    phases: spec.phases,
  })
  .meta({ title: 'A workflow' });
export type WorkflowManifest = Omit<WorkflowSpec, 'version' | 'description'> & {
  description: string;
  collection: string | null;
  tags: string[];
};
