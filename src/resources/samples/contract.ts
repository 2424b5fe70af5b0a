/** The HTTP contract of recorded samples. */
import { z } from 'zod';
import { endpoint } from '../../platform/http/endpoint.ts';

const Samples = z
  .object({
    workflows: z.array(
      z.object({
        workflow: z.string().describe('Slug of the built-in workflow'),
        title: z.string(),
        summary: z.string().describe('What one gets to see, in one sentence'),
        brief: z.string(),
        params: z.record(z.string(), z.unknown()),
      }),
    ),
    prompts: z.array(
      z.object({
        slug: z.string(),
        title: z.string(),
        summary: z.string().describe('What the run shows, in one sentence'),
        agent: z.string(),
        prompt: z.string(),
      }),
    ),
  })
  .meta({ id: 'Samples' });

export const listSamples = endpoint({
  id: 'samples.list',
  path: '/v1/samples',
  summary: 'Recorded samples to try the product with before a model is configured',
  description:
    'Without a model provider, a project started with exactly this brief and these parameters, or a run of this agent ' +
    'with exactly this prompt, is answered from the recording and marked with `sample: true`.',
  reply: Samples,
});
