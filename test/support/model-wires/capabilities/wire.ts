/**
 * What a provider is sent and answers, one case for each of its capabilities. `test/platform/models/capabilities.test.ts`
 * plays them, and the table of docs/operate/models.md has a cell for each. A provider without a case does not compile.
 */
import { expect } from '@jest/globals';
import type { TokenUsage } from '../../../../src/platform/models/types.ts';
import type { Reply } from '../../fakes/openai-server.ts';
import type { Fixture } from '../fixture.ts';

export const CAPABILITIES = [
  'stream',
  'tools',
  'parallel tools',
  'schema',
  'reasoning',
  'prompt cache',
  'pictures',
  'usage',
  'errors',
] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** Parts of a reply as they are on the wire. */
export type Chunks = readonly (string | Buffer)[];

interface Case {
  /** The words of the cell. */
  cell: string;
  /** The request that is asked has this in its body. */
  sent: object;
}

/** A turn, and a second one which is told of the first. */
interface TwoTurns extends Case {
  turn: Chunks;
  /** The second request has this in its body. */
  back: object;
}

export interface Wire {
  /** In the table. */
  label: string;
  model: string;
  /** Settings of the deployment; addresses are those of the fake. */
  env: Readonly<Record<string, string>>;
  path: string;
  headers: Readonly<Record<string, unknown>>;
  contentType?: string;
  cases: {
    /** The reply says "One " in its first part and "two." in its second, which is sent when somebody has read the first. */
    stream: Case & { turn: [first: Chunks, rest: Chunks] };
    /** The reply calls `add` with `{"a":2}`. */
    tools: TwoTurns;
    /** It calls `add` twice, with `{"a":2}` and `{"a":3}`. */
    'parallel tools': TwoTurns;
    /** It answers `{"sum":4}`. */
    schema: Case & { turn: Chunks; isInWords?: 'always' | 'with tools' };
    /** It thinks "I add." and calls `add` with `{"a":2}`. */
    reasoning: TwoTurns;
    /** Its usage has 100 tokens read from the cache. */
    'prompt cache': Case & { turn: Chunks; usage: Partial<TokenUsage>; never?: RegExp };
    /** A result of a tool has a picture. */
    pictures: Case;
    usage: Omit<Case, 'sent'> & { turn: Chunks; usage: TokenUsage };
    errors: Omit<Case, 'sent'> & { failures: Fixture['failures'] };
  };
}

const event = (data: unknown): string => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
export const events = (...data: unknown[]): Chunks => data.map(event);
/** With their names, as Anthropic and OpenAI's responses have them. */
export const named = (...data: { type: string }[]): Chunks => data.map((each) => `event: ${each.type}\n${event(each)}`);

export const replied =
  (chunks: Chunks, contentType = 'text/event-stream'): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': contentType });
    for (const chunk of chunks) response.write(chunk);
    response.end();
  };

export const PIXELS = Buffer.from('pixels').toString('base64');
export const SCHEMA = {
  type: 'object',
  properties: { sum: { type: 'number' } },
  required: ['sum'],
  additionalProperties: false,
};
/** Of each case of caches. */
export const CACHE_KEY = 'key-of-the-cache';
export const textOf = (text: string): unknown => expect.stringContaining(text);
