/** Live addresses of pages that take an answer, of every kind, and texts with them at every place that takes a text. */
import { randomBytes, randomUUID } from 'node:crypto';
import { itemAt, last, present } from '../../../src/platform/core/present.ts';
import type { Endpoint } from '../../../src/platform/http/endpoint.ts';
import type { RequestParts } from '../http/send.ts';
import type { Tenant, TestService } from '../service/service.ts';
import { textPlaces } from './hostile-text-requests.ts';
import type { HostileRequest } from './hostile-requests.ts';

export interface LiveAddress {
  kind: string;
  url: string;
  /** The parts of its token that nobody may learn. */
  secrets: string[];
}

/** @param pageUrl the working address of a page @param waitId of a wait that is open */
export async function liveAddresses(
  service: TestService,
  { caller: { customerId, actor } }: Tenant,
  { pageUrl, waitId }: { pageUrl: string; waitId: string },
): Promise<LiveAddress[]> {
  const link = present(await service.services.actionLinks.issue({ customerId, waitId, revision: 1, recipient: actor }));
  const secret = () => randomBytes(32).toString('base64url');
  const mailed = (path: string): LiveAddress => {
    const signature = secret();
    return {
      kind: path,
      url: `${service.baseUrl}${path}?token=${randomUUID()}.1795620892.${signature}`,
      secrets: [signature],
    };
  };
  const before = secret();
  const key = last(pageUrl.split('_'));
  return [
    { kind: 'page', url: pageUrl, secrets: [key] },
    { kind: 'page in a query', url: `https://wa.example/?text=${encodeURIComponent(pageUrl)}`, secrets: [key] },
    { kind: 'page in JSON', url: JSON.stringify({ url: pageUrl }).replaceAll('/', '\\/'), secrets: [key] },
    { kind: 'page by a key alone', url: `${service.baseUrl}/miniapps/${before}`, secrets: [before] },
    { kind: 'action link', url: link.url, secrets: link.token.split('.') },
    mailed('/outputs/confirm'),
    mailed('/login/link'),
  ];
}

/** @returns a text with all of them, and words that searches find */
export const textWith = (addresses: readonly LiveAddress[]): string =>
  `Planted: ${addresses.map(({ kind, url }) => `${kind} ${url} and`).join(' ')} nothing.`;

/** Requests with this text at each place of the endpoint that takes one. @param parts a request that is right */
export const plantingRequests = (endpoint: Endpoint, parts: RequestParts, text: string): HostileRequest[] =>
  textPlaces(endpoint, parts)
    .filter(({ name, most }) => !name.startsWith('path.') && !name.startsWith('query.') && most >= text.length)
    .map((place) => place.request(text, 'page addresses'));

/** As many characters of a secret are a find. */
const FRAGMENT = 6;

/** @returns a function that gives the fragments of these secrets that stand in a text */
export function fragmentFinder(addresses: readonly LiveAddress[]): (text: string) => string[] {
  const fragments = new Map<string, string>();
  for (const { kind, secrets } of addresses)
    for (const secret of secrets)
      for (let at = 0; at + FRAGMENT <= secret.length; at++) fragments.set(secret.slice(at, at + FRAGMENT), kind);
  return (text) =>
    [...fragments].flatMap(([fragment, kind]) => (text.includes(fragment) ? `${kind}: ${fragment}` : []));
}

/** Words of a secret from four characters on, each with another that differs in its last character alone. */
export const guessesOf = (secret: string): [guess: string, other: string][] =>
  secret.split(/[^A-Za-z0-9]+/).flatMap((word) =>
    Array.from({ length: Math.max(0, word.length - 3) }, (_, extra): [string, string] => {
      const guess = word.slice(0, 4 + extra);
      const end = itemAt(guess, -1) === 'q' ? 'x' : 'q';
      return [guess, guess.slice(0, -1) + end];
    }),
  );
