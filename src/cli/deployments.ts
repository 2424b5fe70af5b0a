/**
 * Adds `aos deployments`, which shows which version of the workers has which work, and moves new work to another
 * version. It speaks to Temporal alone, with the settings of the service's own connection.
 */
import { InvalidArgumentError, type Command } from 'commander';
import type { DeploymentVersion } from '../platform/temporal/deployments.ts';
import { CliError, printJson, printTable } from './output.ts';

interface Options {
  deployment?: string;
  json?: boolean;
}

export function addDeploymentCommands(program: Command): void {
  const deployments = program
    .command('deployments')
    .description('versions of the workers, where WORKER_DEPLOYMENT rolls them out')
    .addHelpText(
      'after',
      `
TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and the other settings of the connection say where Temporal is.

A rollout, once workers with the new WORKER_BUILD_ID are up beside the old ones:
  aos deployments ramp 1.1.0 --percent 10
  aos deployments ramp 1.1.0 --percent 50
  aos deployments set-current 1.1.0
  aos deployments list                      the old version is draining, then drained: stop its workers`,
    );
  const add = (usage: string, description: string) =>
    deployments
      .command(usage)
      .description(description)
      .option('-d, --deployment <name>', 'name of the deployment (default: WORKER_DEPLOYMENT)')
      .option('--json', 'print JSON');
  add('list', 'versions and their states: current, ramping, draining, drained, inactive').action(list);
  add('set-current <build-id>', 'all new work, and all that goes along, is this version’s; also the way back').action(
    (buildId: string, options: Options) =>
      change(options, buildId, async (temporal, version) => {
        const { makeCurrent } = await load();
        await makeCurrent(temporal, version);
      }),
  );
  add('ramp <build-id>', 'so much of it is this version’s; 0 ends the ramp')
    .requiredOption('-p, --percent <n>', 'from 0 to 100', percentage)
    .action((buildId: string, { percent, ...options }: Options & { percent: number }) =>
      change(options, buildId, async (temporal, version) => {
        const { ramp } = await load();
        await ramp(temporal, version, percent);
      }),
    );
}

const load = () => import('../platform/temporal/deployments.ts');

function percentage(text: string): number {
  const percent = Number(text);
  if (text.trim() === '' || !(percent >= 0 && percent <= 100))
    throw new InvalidArgumentError('expects a number from 0 to 100');
  return percent;
}

async function list(options: Options): Promise<void> {
  const { describeDeployment, listDeployments } = await load();
  await withTemporal(async (temporal) => {
    const name = options.deployment ?? process.env.WORKER_DEPLOYMENT;
    const names = name ? [name] : await listDeployments(temporal);
    const found = await Promise.all(names.map((each) => describeDeployment(temporal, each)));
    if (options.json) return printJson(found);
    printTable(
      found.flatMap(({ deployment, versions }) => versions.map((version) => ({ deployment, ...version }))),
      [
        { title: 'DEPLOYMENT', value: ({ deployment }) => deployment },
        { title: 'BUILD ID', value: ({ build_id }) => build_id },
        { title: 'STATE', value: ({ state, percent }) => (percent === undefined ? state : `${state} ${percent}%`) },
      ],
      'no worker has said a version: set WORKER_DEPLOYMENT and WORKER_BUILD_ID',
    );
  });
}

type Connected = Awaited<ReturnType<typeof connect>>;

async function change(
  options: Options,
  buildId: string,
  work: (temporal: Connected, version: DeploymentVersion) => Promise<void>,
): Promise<void> {
  const deployment = options.deployment ?? process.env.WORKER_DEPLOYMENT;
  if (!deployment) throw new CliError('which deployment? Give --deployment, or set WORKER_DEPLOYMENT');
  await withTemporal((temporal) => work(temporal, { deployment, buildId }));
  await list({ ...options, deployment });
}

async function withTemporal<T>(work: (temporal: Connected) => Promise<T>): Promise<T> {
  const temporal = await connect();
  try {
    return await work(temporal);
  } catch (error) {
    // The server explains in `details` that nothing serves the version, or that the name is unknown.
    const { details } = error as { details?: string };
    throw details ? new CliError(details) : error;
  } finally {
    await temporal.close();
  }
}

async function connect() {
  const [{ connectTemporal }, { createLog }] = await Promise.all([
    import('../platform/temporal/client.ts'),
    import('../platform/core/log.ts'),
  ]);
  return connectTemporal(process.env, { log: createLog({ level: 'error' }), giveUpAfterMs: 5_000 });
}
