/** Defines what a kind of manifest consists of. Each kind is one file under `kinds/`. */
import type { z } from 'zod';
import { fieldsOf } from '../../platform/core/record.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import { faultsIn, unknownFields, unknownMessage } from '../../platform/http/unknown-fields.ts';
import type { SecretPlaces } from './secrets.ts';
import type { ManifestContent, Fault, ManifestKind, Path, ManifestReference, SecretReceiver } from './model.ts';

/** Something that a workspace has, as a manifest says it. */
export interface Known {
  name: string;
  content: ManifestContent;
}

type Owner = Pick<Caller, 'customerId' | 'workspaceId'>;

/** What is left to do when the transaction is over: it may take its time, and is mended by housekeeping where it fails. */
export type AfterCommit = () => Promise<unknown>;
/** Is called in the transaction. It makes no request to anybody. */
export type Write = () => Promise<AfterCommit | void>;

/** A manifest of the right shape. */
export interface WantedManifest extends Known {
  references: readonly ManifestReference[];
  /** Looks at what its shape does not tell. */
  check(customerId: string): Promise<readonly Fault[]>;
  /** What is sent a secret that is not in the manifest: the token of an integration. */
  credential: SecretReceiver | undefined;
  /** Does what takes its time, outside of any transaction. */
  prepare(owner: Owner, before: ManifestContent | undefined): Promise<Write>;
}

export interface Kind {
  kind: ManifestKind;
  /** The field by which a thing is known. */
  nameField: 'slug' | 'name' | 'url';
  /** What may not stand in a file; a kind without secrets has none. */
  secrets?: SecretPlaces;
  /** Editors are given this. */
  shape: z.ZodType;
  /** @param names leaves out the others. @returns what the workspace itself has made, by name */
  known(customerId: string, names?: ReadonlySet<string>): Promise<Known[]>;
  parse(content: ManifestContent): Promise<WantedManifest | { faults: readonly Fault[] }>;
  /** @returns those of these that can be named: the workspace's own, and what ships */
  existing(customerId: string, names: readonly string[]): Promise<ReadonlySet<string>>;
  /** @returns names that somebody may have meant */
  suggestions(customerId: string): Promise<readonly string[]>;
  remove(owner: Owner, name: string): Write;
  /** Drops what is as it is by default: files say what is special. */
  shortened(content: ManifestContent): ManifestContent;
}

export interface KindDefinition<Manifest extends object> extends Pick<
  Kind,
  'kind' | 'nameField' | 'secrets' | 'existing' | 'suggestions' | 'remove'
> {
  shape: z.ZodType;
  known(customerId: string, names: ReadonlySet<string> | undefined): Promise<Manifest[]>;
  /** What has a field of this value need not say so. */
  defaults: Partial<Manifest>;
  shortened?(manifest: ManifestContent): ManifestContent;
  references(manifest: Manifest): readonly ManifestReference[];
  read(content: ManifestContent): Promise<Read<Manifest>>;
  check?(customerId: string, manifest: Manifest): Promise<readonly Fault[]>;
  credentialOf?(manifest: Manifest): SecretReceiver | undefined;
  prepare(owner: Owner, manifest: Manifest, before: ManifestContent | undefined): Promise<Write>;
}

const MAX_FAULTS = 50;

/** @returns the fields that the shape does not know, with what may have been meant */
export const unknownIn = (shape: z.ZodType, content: ManifestContent): Fault[] =>
  unknownFields(shape, content, { max: MAX_FAULTS }).map((field) => ({
    path: field.path,
    message: unknownMessage('field', field),
  }));

export type Read<Manifest> = { manifest: Manifest } | { faults: readonly Fault[] };

export function shaped<Manifest>(shape: z.ZodType<Manifest>, content: ManifestContent): Read<Manifest> {
  const { data, error } = shape.safeParse(content);
  const faults = faultsIn(shape, content, error, MAX_FAULTS);
  return data === undefined || faults.length > 0 ? { faults } : { manifest: data };
}

export function defineKind<Manifest extends object>(definition: KindDefinition<Manifest>): Kind {
  const { kind, nameField, secrets, shape, defaults, existing, suggestions, remove } = definition;
  const nameOf = (manifest: Manifest): string => String(fieldsOf(manifest)[nameField]);
  const isDefault = (name: string, value: unknown): boolean =>
    value === undefined ||
    (Object.hasOwn(defaults, name) && JSON.stringify(value) === JSON.stringify(fieldsOf(defaults)[name]));
  return {
    kind,
    nameField,
    ...(secrets && { secrets }),
    shape,
    existing,
    suggestions,
    remove,
    shortened(content) {
      const special = Object.fromEntries(Object.entries(content).filter(([name, value]) => !isDefault(name, value)));
      return definition.shortened?.(special) ?? special;
    },
    async known(customerId, names) {
      const manifests = await definition.known(customerId, names);
      return manifests.map((manifest) => ({ name: nameOf(manifest), content: fieldsOf(manifest) }));
    },
    async parse(content) {
      const read = await definition.read(content);
      if ('faults' in read) return read;
      const { manifest } = read;
      return {
        name: nameOf(manifest),
        content: fieldsOf(manifest),
        references: definition.references(manifest),
        credential: definition.credentialOf?.(manifest),
        check: async (customerId) => (await definition.check?.(customerId, manifest)) ?? [],
        prepare: (owner, before) => definition.prepare(owner, manifest, before),
      };
    },
  };
}

interface Listing<Row, Manifest> {
  /** Lists all that the workspace has of the kind. */
  list(customerId: string): Promise<readonly Row[]>;
  nameOf(row: Row): string;
  manifestOf(row: Row): Manifest;
}

/** Finds by name what is listed all at once; several things may have one name. */
export function findingIn<Row, Manifest extends object>({ list, nameOf, manifestOf }: Listing<Row, Manifest>) {
  const namesOf = async (customerId: string): Promise<string[]> => (await list(customerId)).map(nameOf);
  const byName: Pick<KindDefinition<Manifest>, 'known' | 'existing' | 'suggestions'> = {
    async known(customerId, names) {
      return (await list(customerId)).filter((row) => names?.has(nameOf(row)) ?? true).map(manifestOf);
    },
    async existing(customerId, names) {
      const known = new Set(await namesOf(customerId));
      return new Set(names.filter((name) => known.has(name)));
    },
    suggestions: namesOf,
  };
  const named = async (customerId: string, name: string): Promise<Row[]> =>
    (await list(customerId)).filter((row) => nameOf(row) === name);
  return { byName, named };
}

/** @returns the references of a list of names */
export const listed = (kind: ManifestKind, names: readonly string[], path: Path): ManifestReference[] =>
  names.map((name, at) => ({ kind, name, path: [...path, at] }));
