/** Finds the recorded samples of the service, for `--sample`. */
import type { Samples } from '../../client/src/api.ts';
import { listSamples } from '../resources/samples/contract.ts';
import type { ServiceClient } from './client.ts';
import { ask } from './commands.ts';
import { CliError } from './output.ts';

/** @returns the error that lists what there is; the exit code is 2 */
const noSample = (wanted: string, samples: readonly { name: string; summary: string }[]): CliError => {
  const width = Math.max(0, ...samples.map(({ name }) => name.length));
  const lines = samples.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return new CliError([`${wanted} has no sample; these have one:`, ...lines].join('\n'), 2);
};

/** @throws CliError with exit code 2 if the workflow has no sample */
export async function workflowSample(service: ServiceClient, workflow: string): Promise<Samples['workflows'][number]> {
  const { workflows } = await ask(service, listSamples);
  const found = workflows.find((sample) => sample.workflow === workflow);
  if (found) return found;
  throw noSample(
    `workflow ${workflow}`,
    workflows.map((sample) => ({ name: sample.workflow, summary: sample.summary })),
  );
}

/** @returns the first sample of an agent. @throws CliError with exit code 2 if it has none */
export async function promptSample(service: ServiceClient, agent: string): Promise<Samples['prompts'][number]> {
  const { prompts } = await ask(service, listSamples);
  const found = prompts.find((sample) => sample.agent === agent || sample.slug === agent);
  if (found) return found;
  throw noSample(
    agent,
    prompts.map((sample) => ({ name: sample.slug, summary: `${sample.agent}: ${sample.summary}` })),
  );
}
