/** Holds a reply against the OpenAPI document that callers have: whether it names this status, this type and this body. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { present } from '../../../src/platform/core/present.ts';
import type { Endpoint } from '../../../src/platform/http/endpoint.ts';
import type { openApiDocument } from '../../../src/platform/http/openapi.ts';
import { EVENT_STREAM, eventsIn } from './event-stream.ts';

export interface Reply {
  status: number;
  /** Without parameters; empty where it says none. */
  contentType: string;
  text: string;
}

export type Documents = Record<Endpoint['surface'], ReturnType<typeof openApiDocument>>;
interface Operation {
  responses: Record<string, { content?: Record<string, unknown> } | undefined>;
}

/** @returns what is wrong with a reply, undefined where nothing is */
export function createReplyCheck(documents: Documents) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  ajv.addSchema(documents.public, 'public');
  ajv.addSchema(documents['control-plane'], 'control-plane');
  const validators = new Map<string, ValidateFunction>();
  const validatorOf = (pointer: string): ValidateFunction => {
    if (!validators.has(pointer)) validators.set(pointer, ajv.compile({ $ref: pointer }));
    return present(validators.get(pointer));
  };

  return ({ surface, path, method }: Endpoint, { status, contentType, text }: Reply): string | undefined => {
    // Named for every endpoint, so that callers are prepared; nothing they send may bring them about.
    if (status === 500 || status === 503) return `it is ${status} ${text.slice(0, 200)}`;
    const { responses } = documents[surface].paths![path]![method] as Operation;
    const response = responses[status];
    if (!response) return `the document names no ${status} (it names ${Object.keys(responses).join(', ')})`;
    if (!response.content) return text === '' ? undefined : `the document names no body for ${status}`;
    if (response.content['*/*']) return undefined;
    if (!response.content[contentType])
      return `the document names no ${contentType || 'reply without a type'} for ${status}`;
    const values: unknown[] =
      contentType === EVENT_STREAM
        ? eventsIn(text).map(({ data }) => data)
        : [contentType === 'application/json' ? parsed(text) : text];
    if (values.includes(undefined)) return 'its body is no JSON';
    const keys = ['paths', path, method, 'responses', String(status), 'content', contentType, 'schema'];
    const validate = validatorOf(`${surface}#/${keys.map(escaped).join('/')}`);
    return values.every((value) => validate(value))
      ? undefined
      : `its body is not as documented: ${ajv.errorsText(validate.errors).slice(0, 300)}`;
  };
}

const escaped = (key: string): string => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
