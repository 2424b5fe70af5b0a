/**
 * Runs containers of strangers by the Docker Engine API. Each is made for one call and removed after it; a container
 * that a crash left behind carries its deadline, and whichever worker looks next removes it. No image is pulled: only
 * what the operator has put on the Docker host can run.
 */
import type Docker from 'dockerode';
import { finished, Writable } from 'node:stream';
import { messageOf } from '../core/causes.ts';
import { newUuid } from '../core/ids.ts';
import type { Log } from '../core/log.ts';
import { fieldsOf } from '../core/record.ts';
import { limitedAgent } from '../egress/limited-agent.ts';
import type { BodyLimits } from '../egress/limits.ts';
import { confined, DEADLINE_LABEL, type ContainerLimits, type ContainerSpec } from './confined.ts';
import { createOutput, tooLong, tooMuchOutput, type ProgramRequest, type ProgramResult } from './program.ts';
import { SandboxError } from './sandbox-error.ts';
import type { Slots } from './slots.ts';

export interface ContainerSandbox {
  /** @returns why containers are not run here, for whoever writes or calls such a tool */
  problem(): string | undefined;
  /** @returns why this image may not be run */
  imageProblem(image: string): string | undefined;
  /** @throws SandboxError when it could not start or had to be ended */
  run(container: ContainerSpec, request: ProgramRequest): Promise<ProgramResult>;
  /** Removes containers past their deadline, now and each minute. @returns stops it */
  startSweeping(log: Log): () => void;
}

interface Settings extends ContainerLimits {
  isOn: boolean;
  /** The address is `unix:///path`, `tcp://host:port` or `http(s)://host:port`. */
  dockerHost: string;
  /** Only these images may run; an empty list allows every image on the host. */
  images: readonly string[];
  slots: Slots;
}

/**
 * The name becomes part of an address: with `..` or `?` in it, it would ask the engine, or somebody else, something
 * else.
 */
const IMAGE =
  /^(?:[a-z0-9][a-z0-9.-]*(?::\d+)?\/)?[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/;

const SWEEP_MS = 60_000;
/** Somebody waits so long for a removal; it goes on after that. */
const REMOVAL_MS = 1_500;
/** Limits one answer of the engine. What a container writes is one answer, and may come a byte to a frame. */
const MAX_ANSWER_BYTES = 16 * 1_024 * 1_024;

export const createContainerSandbox = ({ isOn, dockerHost, images, slots, ...limits }: Settings): ContainerSandbox => {
  /** Makes a client whose every answer comes to an end. */
  const docker = (totalMs: number, onExceeded?: BodyLimits['onExceeded']) =>
    connect(dockerHost, { maxBytes: MAX_ANSWER_BYTES, totalMs, raisedBy: {}, ...(onExceeded && { onExceeded }) });

  const problem = () => {
    if (!isOn) return 'container tools are off here: TOOLS_CONTAINER';
    return addressOf(dockerHost) ? undefined : 'container tools need a DOCKER_HOST such as unix:///var/run/docker.sock';
  };
  const imageProblem = (image: string) => {
    if (!IMAGE.test(image)) return 'must be the name of an image, like registry.example.com/name:tag';
    return images.length === 0 || images.includes(image) ? undefined : `must be one of ${images.join(', ')}`;
  };

  return {
    problem,
    imageProblem,
    async run(container, request) {
      const reason = problem() ?? imageProblem(container.image);
      if (reason) throw new SandboxError(reason);
      return slots.run(request.owner, request.signal, () => execute(docker, container, limits, request));
    },
    startSweeping(log) {
      if (!isOn) return () => {};
      const look = async () => {
        try {
          await sweep(await docker(SWEEP_MS));
        } catch (error) {
          log.warn({ reason: messageOf(error) }, 'leftover containers could not be listed');
        }
      };
      void look();
      const timer = setInterval(look, SWEEP_MS);
      return () => clearInterval(timer);
    },
  };
};

function addressOf(dockerHost: string): Docker.DockerOptions | undefined {
  if (/^unix:\/\/\/./.test(dockerHost)) return { socketPath: dockerHost.slice('unix://'.length) };
  const address = URL.parse(dockerHost.replace(/^tcp:/, 'http:'));
  if (!address || !/^https?:$/.test(address.protocol)) return undefined;
  const protocol = address.protocol === 'https:' ? 'https' : 'http';
  return { protocol, host: address.hostname, port: address.port || (protocol === 'https' ? 2_376 : 2_375) };
}

const connect = async (dockerHost: string, limits: BodyLimits): Promise<Docker> => {
  // The client takes long to load, so it is loaded on first use.
  const { default: Engine } = await import('dockerode');
  const address = addressOf(dockerHost);
  const agent = limitedAgent({ ...limits, isSecure: address?.protocol === 'https' });
  // The client knows the option `agent`; its types do not.
  return new Engine({ ...address, agent } as Docker.DockerOptions);
};

async function execute(
  engine: (totalMs: number, onExceeded?: BodyLimits['onExceeded']) => Promise<Docker>,
  spec: ContainerSpec,
  limits: ContainerLimits,
  { stdin, timeoutMs, signal }: ProgramRequest,
): Promise<ProgramResult> {
  // The service chooses the name, so that a container can be removed even where the end of its creation was not seen.
  const name = `tool-${newUuid()}`;
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(new SandboxError(tooLong(timeoutMs))), timeoutMs);
  const output = createOutput(() => stop.abort(new SandboxError(tooMuchOutput)));
  // The client says nothing about a connection that ends within an answer, so this does.
  const docker = await engine(timeoutMs + REMOVAL_MS, ({ message }) =>
    stop.abort(new SandboxError(`the Docker host does not run it: ${message}`)),
  );
  const removing = await engine(SWEEP_MS);
  const stopped = AbortSignal.any([signal, stop.signal]);

  const work = async (): Promise<number> => {
    const image = await docker.getImage(spec.image).inspect();
    const container = await docker.createContainer({ name, ...confined(spec, image, limits, Date.now() + timeoutMs) });
    stopped.throwIfAborted();
    const stream = await container.attach({ stream: true, stdin: true, stdout: true, stderr: true, hijack: true });
    container.modem.demuxStream(stream, sink('stdout'), sink('stderr'));
    const written = new Promise<void>((resolve) => finished(stream, { writable: false }, () => resolve()));
    stopped.throwIfAborted();
    await container.start();
    stream.end(stdin);
    const { StatusCode } = (await container.wait()) as { StatusCode: number };
    await written;
    return StatusCode;
  };
  const sink = (to: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk: Buffer, _, done) {
        output.add(to, chunk);
        done();
      },
    });

  const working = work();
  try {
    const exitCode = await unless(stopped, working);
    return { exitCode, ...output.texts() };
  } catch (error) {
    throw signal.aborted || error instanceof SandboxError ? error : explain(error, spec.image);
  } finally {
    clearTimeout(timer);
    // The container may still be in the making, and exist only after this.
    if (stopped.aborted) void working.catch(() => {}).then(() => remove(removing, name));
    await Promise.race([remove(removing, name), new Promise((resolve) => setTimeout(resolve, REMOVAL_MS).unref())]);
  }
}

/** @returns the outcome of the work, or throws the signal's reason if that comes first */
const unless = async <T>(signal: AbortSignal, work: Promise<T>): Promise<T> => {
  work.catch(() => {});
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};

/** Removes the container and ends it with that. One that cannot be removed now is found when its deadline is past. */
const remove = async (docker: Docker, name: string): Promise<void> => {
  await docker
    .getContainer(name)
    .remove({ force: true, v: true })
    .catch(() => {});
};

async function sweep(docker: Docker): Promise<void> {
  const all = await docker.listContainers({ all: true, filters: { label: [DEADLINE_LABEL] } });
  // eslint-disable-next-line no-restricted-syntax -- the label was written by this clock, of this machine
  const late = all.filter(({ Labels }) => Number(Labels[DEADLINE_LABEL]) < Date.now());
  await Promise.all(late.map(({ Id }) => remove(docker, Id)));
}

/**
 * A container reaches nothing outside, so whatever failed, it had no effect. What the engine says in full is not for
 * tenants.
 */
const explain = (error: unknown, image: string): SandboxError => {
  const { statusCode, code } = fieldsOf(error);
  if (statusCode === 404) return new SandboxError(`the Docker host has no image ${image}`);
  if (statusCode === 400) return new SandboxError('it cannot be started: its command or its environment is bad');
  return new SandboxError(`the Docker host does not run it: ${code ?? `it answered ${statusCode}`}`);
};
