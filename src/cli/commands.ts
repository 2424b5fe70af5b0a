/**
 * Makes commands from endpoint declarations. The words of a usage such as `update <id> <title>` fill the parameters of the
 * path in their order; the other words and the flags are fields of the query and the body. The schemas say how a flag is
 * read: choices, numbers, lists, files.
 */
import { Argument, type Command } from 'commander';
import type { z } from 'zod';
import type { Endpoint } from '../platform/http/endpoint.ts';
import { fieldsOf } from '../platform/core/record.ts';
import { formOf } from './attached.ts';
import { openService, type ServiceClient } from './client.ts';
import { columnsOf, type Columns } from './columns.ts';
import { readText } from './input.ts';
import { asList, list as printList, type ListOptions } from './listing.ts';
import { confirmable, confirmed, type Confirming } from './otp.ts';
import { CliError, oneLine, print, printJson, printTable } from './output.ts';
import { choicesOf, converted, optionOf, partsOf, shapeOf, type Flags } from './schemas.ts';

/** Adds one command to a group, or a group to the program. */
export type Add = (parent: Command) => unknown;

type Declared = Pick<
  Endpoint,
  'method' | 'path' | 'surface' | 'params' | 'query' | 'body' | 'uploads' | 'otp' | 'reply'
>;

type Words<Usage> = Usage extends `${string}<${infer Name}>${infer Rest}` ? Name | Words<Rest> : never;
type OptionalWords<Usage> = Usage extends `${string}[${infer Name}]${infer Rest}` ? Name | OptionalWords<Rest> : never;
type NameOf<Flag> = Flag extends `${infer Name} | ${string}` ? Name : Flag;
type Value<Flag> =
  NameOf<Flag> extends `${string}<${string}`
    ? NameOf<Flag> extends `${string}...>${string}` | `${string}>*`
      ? string[]
      : string
    : true;
type Given<Usage, Of> = {
  [Name in Words<Usage> as Name extends `${infer One}...` ? One : Name]: Name extends `${string}...`
    ? string[]
    : string;
} & { [Name in OptionalWords<Usage>]?: string } & { [Name in keyof Of]?: Value<Of[Name]> };
export type ReplyOf<E> = E extends { reply: infer Reply }
  ? Reply extends z.ZodType
    ? z.output<Reply>
    : undefined
  : never;
export type RowOf<E> = ReplyOf<E> extends { data: (infer Row)[] } ? Row : never;

interface Common<Usage, Of extends Flags> {
  about: string;
  /** Helps with words of the usage. */
  words?: Readonly<Record<string, string>>;
  /** The field without whose flag nothing is done. */
  required?: string;
  /** What a flag may be, if no schema says so. */
  choices?: Readonly<Record<string, readonly string[]>>;
  /** Read words and flags, or refuse them before anything else is done. */
  parse?: Readonly<Record<string, (text: string, before?: unknown) => unknown>>;
  flags?: Of;
  /** Is shown below the help. */
  after?: string;
  isDefault?: boolean;
  /** @returns what fills the path, if that is not the first words of the usage */
  path?: (given: Given<Usage, Of>, service: ServiceClient) => Promise<unknown[]>;
}

interface Spec<Usage, E, Of extends Flags, Other> extends Common<Usage, Of> {
  /** The field whose text may come from a file in its place. */
  file?: string;
  /** Is said if neither was given. */
  needs?: string;
  /** @returns the fields to send, if they are not those that were given */
  fields?: (given: Given<Usage, Of>, service: ServiceClient, isJson: boolean) => object | Promise<object>;
  /** Tells a person of the reply. @returns the text, unless it is printed already */
  say?: (
    reply: ReplyOf<E | Other>,
    given: Given<Usage, Of>,
    service: ServiceClient,
  ) => string | void | Promise<string | void>;
  /** @returns another endpoint, with what it is sent, if what was given asks for it */
  choose?: (given: Given<Usage, Of>, service: ServiceClient) => Choice<Other> | Promise<Choice<Other>>;
  /** @returns what a program is told, if that is not the reply */
  json?: (reply: ReplyOf<E | Other>, given: Given<Usage, Of>, service: ServiceClient) => unknown;
  /** Says that nothing is told of the reply, since what follows tells more. */
  isQuiet?: (given: Given<Usage, Of>) => boolean;
  /** Goes on after the reply was told. */
  then?: (
    reply: ReplyOf<E | Other>,
    given: Given<Usage, Of>,
    service: ServiceClient,
    isJson: boolean,
  ) => void | Promise<void>;
  /** Names what is missing, if the service answers 404. */
  orElse?: (given: Given<Usage, Of>) => (error: unknown) => never;
}

interface Choice<E> {
  endpoint?: E;
  path?: readonly unknown[];
  fields?: object;
}

interface ListSpec<Usage, E, Of extends Flags> extends Common<Usage, Of>, Columns<RowOf<E>> {
  /** Is said if there is nothing. */
  empty: string | ((given: Given<Usage, Of>) => string);
  fields?: (given: Given<Usage, Of>) => Record<string, string | undefined>;
  /** Prints another list, if what was given asks for it. */
  instead?: (
    given: Given<Usage, Of>,
    query: Record<string, string | undefined>,
    options: ListOptions,
  ) => Promise<void> | undefined;
}

/** @returns a command that sends a request and tells what came of it */
export const command =
  <
    const Usage extends string,
    E extends Declared,
    const Of extends Flags = Record<never, never>,
    Other extends Declared = E,
  >(
    usage: Usage,
    endpoint: E,
    spec: Spec<Usage, E, Of, Other>,
  ): Add =>
  (group) => {
    const { made, names, fieldNames } = declare(group, usage, endpoint, spec);
    made.option('--json', 'print JSON');
    if (spec.file) made.option('-f, --file <path>', 'the same from a file; - reads standard input');
    if (endpoint.otp) confirmable(made);
    if (shapeOf(endpoint.query).force) made.option('--force', 'delete it although something uses it');
    made.action(async () => {
      const { json, file, challenge, code, force } = made.opts<Record<string, string | undefined>>();
      const given = givenTo<Given<Usage, Of>>(made, names, fieldNames);
      const service = await openService(process.env);
      if (spec.file && file !== undefined) {
        if (spec.file in given) throw new CliError(`give ${nameOfFlag(made, spec)} or --file, not both`);
        Object.assign(given, { [spec.file]: await readText(file) });
      }
      if (spec.file && spec.needs && !(spec.file in given)) throw new CliError(spec.needs);
      const chosen: { endpoint: E | Other; path?: readonly unknown[]; fields?: object } = {
        endpoint,
        ...(await spec.choose?.(given, service)),
      };
      const path = chosen.path ?? (spec.path ? await spec.path(given, service) : Object.values(given));
      // The first words are in the path already.
      const inPath = spec.path ? [] : names.slice(0, parametersOf(endpoint));
      const others = Object.fromEntries(Object.entries(given).filter(([name]) => !inPath.includes(name)));
      const fields = fieldsOf(
        chosen.fields ?? (spec.fields ? await spec.fields(given, service, json !== undefined) : others),
      );
      const sent = await converted(chosen.endpoint, { ...fields, force: force && 'true' }, spec.flags);
      const reply = await ask(service, chosen.endpoint, path, sent, { challenge, code }).catch(
        spec.orElse?.(given) ?? rethrow,
      );
      if (!spec.isQuiet?.(given)) {
        const [name = '', value] = Object.entries(given)[Math.max(0, parametersOf(endpoint) - 1)] ?? [];
        const text = json || !spec.say ? `${String(value)} is deleted` : await spec.say(reply, given, service);
        if (json) printJson((await spec.json?.(reply, given, service)) ?? reply ?? { [name]: value, deleted: true });
        else if (typeof text === 'string') print(text);
      }
      await spec.then?.(reply, given, service, json !== undefined);
    });
  };

/** @returns a command that prints a table, which can be watched */
export const list =
  <const Usage extends string, E extends Declared, const Of extends Flags = Record<never, never>>(
    usage: Usage,
    endpoint: E,
    spec: ListSpec<Usage, E, Of>,
  ): Add =>
  (group) => {
    const columns = columnsOf<RowOf<E>>(endpoint.reply, spec);
    const { made, names, fieldNames } = declare(
      group,
      usage,
      endpoint,
      { isDefault: usage === 'list', ...spec },
      asList,
    );
    made.action(() => {
      const given = givenTo<Given<Usage, Of>>(made, names, fieldNames);
      const { empty } = spec;
      const query = spec.fields?.(given) ?? queryIn(given, names);
      const options = made.opts<ListOptions>();
      const path = addressOf(endpoint, Object.values(given));
      const said = typeof empty === 'string' ? empty : empty(given);
      return spec.instead?.(given, query, options) ?? printList({ path, query, columns, empty: said }, options);
    });
  };

/** Prints rows that a reply has beside something else. @param endpoint has rows like these as `data` of its reply */
export const table = <Row>(
  rows: readonly Row[],
  { empty, ...columns }: Columns<Row> & { empty: string },
  schema?: unknown,
): void => printTable(rows, columnsOf<Row>(schema, columns), empty);

/** @returns a group of commands */
export const group =
  (names: string, about: string, commands: readonly Add[], after = ''): Add =>
  (program) => {
    const [name = '', alias] = names.split('|');
    const made = program.command(name).description(about);
    if (alias) made.alias(alias);
    for (const add of commands) add(made);
    if (after) made.addHelpText('after', `\n${after}`);
  };

/** @returns lines of a name and a value, without those that have none */
export const card = (lines: Readonly<Record<string, string | null | undefined>>, width = 12): string =>
  Object.entries(lines)
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => `${name.padEnd(width)}${oneLine(value ?? '')}`)
    .join('\n');

function declare<Of extends Flags>(
  group: Command,
  usage: string,
  endpoint: Declared,
  {
    about,
    words = {},
    parse = {},
    choices: others = {},
    required,
    flags,
    after,
    isDefault = false,
  }: Pick<Common<never, Of>, 'about' | 'words' | 'parse' | 'choices' | 'required' | 'flags' | 'after' | 'isDefault'>,
  also = (made: Command) => made,
) {
  const [names = '', ...texts] = usage.split(' ');
  const [name = '', ...aliases] = names.split('|');
  const made = also(group.command(name, { isDefault })).description(about).aliases(aliases);
  const shape = { ...shapeOf(endpoint.query), ...shapeOf(endpoint.body) };
  for (const text of texts) {
    const argument = new Argument(text);
    argument.description = words[argument.name()] ?? '';
    const choices = choicesOf(shape[argument.name()]);
    const read = parse[argument.name()];
    if (choices) argument.choices(choices);
    else if (read) argument.argParser(read);
    made.addArgument(argument);
  }
  const fieldNames = new Map(
    Object.entries(flags ?? {}).map(([field, flag]) => {
      const option = optionOf(flag, shape[field.replace('!', '')]);
      const [listed, reader] = [others[field], parse[field]];
      if (listed) option.choices(listed);
      if (field === required) option.makeOptionMandatory();
      if (reader) option.argParser(reader);
      made.addOption(option);
      return [option.attributeName(), field.replace('!', '')] as const;
    }),
  );
  if (after) made.addHelpText('after', `\n${after}`);
  return { made, fieldNames, names: made.registeredArguments.map((argument) => argument.name()) };
}

function givenTo<T>(made: Command, names: readonly string[], fieldNames: ReadonlyMap<string, string>): T {
  const words = names.map((name, i): [string, unknown] => [name, made.processedArgs[i]]);
  const flags = [...fieldNames].map(([option, field]): [string, unknown] => [field, made.getOptionValue(option)]);
  return Object.assign(
    Object.create(null),
    Object.fromEntries([...words, ...flags].filter(([, value]) => value !== undefined)),
  );
}

const parametersOf = ({ path }: Declared): number => path.split('{').length - 1;

const addressOf = ({ path }: Declared, values: readonly unknown[]): string => {
  const left = [...values];
  return path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(String(left.shift())));
};

const rethrow = (error: unknown): never => {
  throw error;
};

/**
 * Sends what an endpoint takes: fields of its query there, all others as its body.
 * @param path fills the parameters of its path
 */
export async function ask<E extends Declared>(
  service: ServiceClient,
  endpoint: E,
  path: readonly unknown[] = [],
  fields: Readonly<Record<string, unknown>> = {},
  confirming: Confirming = {},
): Promise<ReplyOf<E>> {
  const known = shapeOf(endpoint.query);
  const isQuery = (name: string) => name in known || endpoint.method === 'get' || endpoint.method === 'delete';
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields).filter(([field]) => isQuery(field)))
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) query.append(name, String(one));
  const body = Object.fromEntries(Object.entries(fields).filter(([name]) => !isQuery(name)));
  const { files } = body;
  const sent = endpoint.uploads && Array.isArray(files) ? await formOf(files.map(String)) : endpoint.body && body;
  const method = endpoint.method.toUpperCase();
  const to = `${addressOf(endpoint, path)}${query.size > 0 ? `?${query.toString()}` : ''}`;
  if (endpoint.otp) return confirmed<ReplyOf<E>>(service, { method, path: to, body: sent }, confirming);
  return service[endpoint.surface === 'public' ? 'api' : 'controlPlane']<ReplyOf<E>>(method, to, sent);
}

function nameOfFlag(made: Command, { file = '', flags = {} }: { file?: string; flags?: Flags }): string {
  const { names } = partsOf(flags[file] ?? '');
  return /--[\w-]+/.exec(names)?.[0] ?? `the ${file}`;
}

/** The other words of a usage and all flags. */
const queryIn = (given: object, names: readonly string[]): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(given)
      .filter(([name]) => !names.includes(name))
      .map(([name, value]) => [name, String(value)]),
  );
