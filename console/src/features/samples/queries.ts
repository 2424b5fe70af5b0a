/** Reads the recorded samples that can be started. */
import { queryOptions } from '@tanstack/react-query';
import { get } from '../../api/client.ts';
import type { Samples } from '../../api/types.ts';

export type WorkflowSample = Samples['workflows'][number];
export type PromptSample = Samples['prompts'][number];

export const samplesQuery = queryOptions({
  queryKey: ['samples'],
  queryFn: ({ signal }) => get<Samples>('/v1/samples', {}, signal),
  // They change with the release alone.
  staleTime: Infinity,
});

/** @returns the request that starts a sample; empty until the samples are read */
export const runBodyOf = (sample: PromptSample | undefined) => ({
  agent: sample?.agent ?? '',
  prompt: sample?.prompt ?? '',
});
export const projectBodyOf = (sample: WorkflowSample | undefined) => ({
  workflow_slug: sample?.workflow ?? '',
  title: sample?.title ?? '',
  brief: sample?.brief ?? '',
  params: sample?.params ?? {},
});

/** The sample run and the sample project that the first steps start. */
export const FIRST_PROMPT = 'pays-for-itself';
export const FIRST_WORKFLOW = 'blog-post';
