/**
 * Reads a tool as it is written on a command line: by options, by a file of JSON or YAML, or by both, where options come first.
 */
import { isRecord } from '../platform/core/record.ts';
import { readFields, readText } from './input.ts';
import { CliError } from './output.ts';

export interface ToolFields {
  file?: string;
  description?: string;
  kind?: string;
  param?: string[];
  schema?: string;
  url?: string;
  method?: string;
  header?: string[];
  script?: string;
  html?: string;
  timeout?: string;
  body?: string;
  access?: string;
  effect?: string;
  integration?: string;
}

type Fields = Record<string, unknown>;

/**
 * @returns the fields that were given, as they are sent to the service
 * @param before is the body of a tool that is changed
 */
export async function definitionOf(given: ToolFields, before: Fields = {}): Promise<Fields> {
  const { description, access, effect, integration } = given;
  const file = given.file === undefined ? {} : await readFields(given.file);
  const { kind, ...named } = await bodyOf(given);
  const body = {
    ...(given.body === undefined ? (asFields(file['body']) ?? before) : parse(given.body, '--body')),
    ...named,
    ...(given.header && { headers: { ...asFields(before['headers']), ...headersOf(given.header) } }),
  };
  const isBodyGiven = given.body !== undefined || given.header !== undefined || Object.keys(named).length > 0;
  return defined({
    ...file,
    ...defined({ description, access, effect, integration, kind: given.kind ?? kind, schema: schemaOf(given) }),
    ...(isBodyGiven && { body }),
  });
}

/** @returns the body that follows from options which only one kind of tool has */
async function bodyOf({ url, method, script, html, timeout }: ToolFields): Promise<Fields> {
  if ([url, script, html].filter((one) => one !== undefined).length > 1) {
    throw new CliError('give one of --url, --script and --html: each is another kind of tool');
  }
  return defined({
    kind: url === undefined ? (script === undefined ? html && 'miniapp' : 'script') : 'webhook',
    url,
    method,
    script: script === undefined ? undefined : await readText(script),
    html: html === undefined ? undefined : await readText(html),
    timeout_s: timeout === undefined ? undefined : Number(timeout),
  });
}

function headersOf(headers: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    headers.map((header) => {
      const colon = header.indexOf(':');
      if (colon < 1) throw new CliError(`--header: ${header} is not "name: value"`);
      return [header.slice(0, colon).trim(), header.slice(colon + 1).trimStart()];
    }),
  );
}

function schemaOf({ schema, param }: ToolFields): Fields | undefined {
  if (schema !== undefined) return parse(schema, '--schema');
  if (!param) return undefined;
  const params = param.map((text) => {
    const [, name, isOptional, type = 'string'] = /^([\w-]+)(\?)?(?::(\w+))?$/.exec(text) ?? [];
    if (name === undefined) throw new CliError(`--param: ${text} is not name, name:type or name?:type`);
    return { name, type, isRequired: !isOptional };
  });
  return {
    type: 'object',
    properties: Object.fromEntries(params.map(({ name, type }) => [name, { type }])),
    required: params.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  };
}

const asFields = (value: unknown): Fields | undefined => (isRecord(value) ? value : undefined);

function parse(text: string, where: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The code below refuses this text, like any JSON that is not an object.
  }
  const fields = asFields(value);
  if (!fields) throw new CliError(`${where}: is not a JSON object`);
  return fields;
}

const defined = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
