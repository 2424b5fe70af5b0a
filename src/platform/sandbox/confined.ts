/**
 * The options that a tool's container is created with: no network, no privilege, nothing that it can fill or use up.
 */
import type Docker from 'dockerode';

export interface ContainerSpec {
  image: string;
  /** Runs in the place of the image's own command. */
  argv?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

export interface ContainerLimits {
  memoryBytes: number;
  processes: number;
  /** The Docker host runs the container with this runtime, such as gVisor's `runsc`. */
  runtime?: string;
}

/** The label tells when the container must be gone, in milliseconds since 1970. */
export const DEADLINE_LABEL = 'agent-orchestration-service.tool-deadline';

const MB = 1_024 * 1_024;
const NOBODY = '65534:65534';
const FILES_BYTES = 64 * MB;
const WRITABLE = `rw,nosuid,nodev,size=${FILES_BYTES},uid=65534,gid=65534,mode=700`;
const DEADLINE_GRACE_MS = 30_000;

export const confined = (
  { image, argv, env = {} }: ContainerSpec,
  { Config }: Pick<Docker.ImageInspectInfo, 'Config'>,
  { memoryBytes, processes, runtime }: ContainerLimits,
  deadline: number,
): Docker.ContainerCreateOptions => ({
  Image: image,
  ...(argv && { Cmd: [...argv] }),
  Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
  User: NOBODY,
  Hostname: 'sandbox',
  NetworkDisabled: true,
  Labels: { [DEADLINE_LABEL]: String(deadline + DEADLINE_GRACE_MS) },
  // A health check of the image would run beside the command.
  Healthcheck: { Test: ['NONE'] },
  AttachStdin: true,
  AttachStdout: true,
  AttachStderr: true,
  OpenStdin: true,
  StdinOnce: true,
  Tty: false,
  HostConfig: {
    NetworkMode: 'none',
    ReadonlyRootfs: true,
    // The image's volumes would be writable disk of the host. Memory takes their place, which counts for the container.
    Tmpfs: Object.fromEntries(['/tmp', ...Object.keys(Config.Volumes ?? {})].map((path) => [path, WRITABLE])),
    ShmSize: 16 * MB,
    Memory: memoryBytes,
    MemorySwap: memoryBytes,
    PidsLimit: processes,
    NanoCpus: 1_000_000_000,
    Ulimits: [
      { Name: 'nofile', Soft: 1_024, Hard: 1_024 },
      { Name: 'core', Soft: 0, Hard: 0 },
    ],
    OomScoreAdj: 1_000,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges:true'],
    Privileged: false,
    IpcMode: 'private',
    RestartPolicy: { Name: 'no' },
    // Output is read once from the attached streams; a log of it could fill the host's disk.
    LogConfig: { Type: 'none', Config: {} },
    ...(runtime && { Runtime: runtime }),
  },
});
