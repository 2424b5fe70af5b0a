/**
 * Words and rules of manifests. A manifest says one thing of a workspace whole, as a file can: what it leaves out is as it is
 * by default, so that what is in the files is what there is.
 */

/** In the order in which they are written: what is named comes before what names it. They go the other way round. */
export const MANIFEST_KINDS = [
  ...(['tool', 'skill', 'agent', 'memory', 'workflow'] as const),
  ...(['job', 'heartbeat', 'destination', 'webhook'] as const),
] as const;
export type ManifestKind = (typeof MANIFEST_KINDS)[number];

/** The files of a kind lie in this folder. */
export const FOLDERS: Readonly<Record<ManifestKind, string>> = {
  tool: 'tools',
  skill: 'skills',
  agent: 'agents',
  memory: 'memories',
  workflow: 'workflows',
  job: 'jobs',
  heartbeat: 'heartbeats',
  destination: 'destinations',
  webhook: 'webhooks',
};

export const MAX_MANIFESTS = 1_000;
/** Fields at the top of one file. No kind has a twentieth of them; the limit is for requests that are no files. */
export const MAX_FIELDS = 1_000;
/** So many faults are told at once. */
export const MAX_FAULTS = 100;
/** One plan may name so many things, each time counted: lists in many files multiply. */
export const MAX_REFERENCES = 20_000;
/** One plan may come with so many values of variables. */
export const MAX_SECRETS = 1_000;
/** A whole directory is sent at once. */
export const MAX_MANIFEST_BYTES = 8 * 1024 * 1024;

export type ManifestContent = Readonly<Record<string, unknown>>;
export type Path = readonly PropertyKey[];

/** Something that is wrong with a manifest, and where in it. */
export interface Fault {
  path: Path;
  message: string;
}

/** A manifest names this; the file that has it may be written in the same breath. */
export interface ManifestReference {
  kind: ManifestKind;
  name: string;
  path: Path;
}

/** A secret, and the origin or program that it is given to. */
export interface SecretReceiver {
  /** Where the secret stands, as `body.headers.X-Key`, or what it is. */
  path: string;
  to: string;
}

/** One field that differs. `before` is absent where the field is new, `after` where it goes. */
export interface FieldChange {
  path: string;
  before?: unknown;
  after?: unknown;
}
