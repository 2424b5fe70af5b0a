/**
 * Hostile texts at every place of every request that takes a text, made of the declarations: an endpoint is in by being
 * declared. A text is as long as its place takes, so that it is read and not refused for its length.
 */
import type { z } from 'zod';
import type { Endpoint } from '../../../src/platform/http/endpoint.ts';
import { eventOf, signatureOf } from '../fakes/stripe-server.ts';
import { parameterNames } from '../http/endpoints.ts';
import {
  addressWith,
  changedBody,
  placesIn,
  rightRequest,
  type HostileRequest,
  type JsonSchema,
} from './hostile-requests.ts';
import { HOSTILE_TEXTS, inTurn } from './hostile-texts.ts';
import { uploadOf } from './hostile-uploads.ts';
import type { RequestParts } from '../http/send.ts';

export interface TextPlace {
  /** `body.prompt` */
  name: string;
  endpoint: Endpoint;
  /** As long as a text may be there, in characters. */
  cap: number;
  /** As long as it can be sent there. */
  most: number;
  /** The request with this text in it; each is for another thing, so that none is refused because it is there already. */
  request(text: string, what: string): HostileRequest;
}

/** A body is 1 MB at most, and an address 16 kB with the headers; escapes make some texts six times as long. */
const MAX_BODY = 900_000;
const MAX_IN_ADDRESS = 8_000;
const MAX_UPLOAD = 1_000_000;
/** With escapes, and a text that stands in it twice. */
const MAX_SIGNED = 60_000;

/** What examples call the thing that they make. */
const MADE = 'another';
let made = 0;

/** @param parts a request that is right */
export function textPlaces(endpoint: Endpoint, parts: RequestParts): TextPlace[] {
  const place = (
    name: string,
    { cap, most = cap }: { cap: number; most?: number },
    change: (text: string, parts: RequestParts) => Partial<HostileRequest>,
  ): TextPlace => ({
    name,
    endpoint,
    cap,
    most,
    request(text, what) {
      const fresh = renamed(parts);
      const right = rightRequest(endpoint, fresh);
      return { ...right, ...change(text, fresh), what: `${name}: ${what}, ${text.length} characters` };
    },
  });
  const inAddress = parameterNames(endpoint).map((name) =>
    place(`path.${name}`, { cap: MAX_IN_ADDRESS }, (text, right) => ({
      path: addressWith(endpoint, right, { [name]: escapedTo(MAX_IN_ADDRESS, text) }),
    })),
  );
  const inQuery = Object.keys((endpoint.query as z.ZodObject | undefined)?.shape ?? {}).map((name) =>
    place(`query.${name}`, { cap: MAX_IN_ADDRESS }, (text, right) => ({
      path: addressWith(endpoint, right, {}, { [name]: escapedTo(MAX_IN_ADDRESS, text) }),
    })),
  );
  const isForm = endpoint.upload ?? endpoint.uploads;
  const inBody =
    endpoint.body && !isForm
      ? placesIn(endpoint.body).flatMap(({ place: at, schemas }) => {
          const cap = capOf(schemas);
          if (cap === undefined) return [];
          return place(`body.${at.join('.')}`, { cap, most: MAX_BODY }, (text, right) => ({
            body: changedBody(right.body, at, { name: '', text: JSON.stringify(text.toWellFormed()) })[1].body,
          }));
        })
      : [];
  const inFile = isForm
    ? [
        place('file.name', { cap: 5_000 }, (text) => uploadOf(endpoint, { filename: text.replace(/[\r\n"]/g, '_') })),
        place('file.content', { cap: MAX_UPLOAD }, (text) => uploadOf(endpoint, { content: text })),
      ]
    : [];
  const inSigned = endpoint.rawBody
    ? [
        place('signed body', { cap: MAX_SIGNED }, signed),
        ...Object.entries(EVENTS).map(([name, eventOf]) =>
          place(name, { cap: MAX_SIGNED }, (text) => signed(JSON.stringify(eventOf(text.toWellFormed())))),
        ),
      ]
    : [];
  return [...inAddress, ...inQuery, ...inBody, ...inFile, ...inSigned];
}

/** What the billing provider tells, with a text where one is acted on. */
const EVENTS: Readonly<Record<string, (text: string) => object>> = {
  'id of an event': (text) => ({ ...eventOf('customer.subscription.updated', {}), id: text }),
  'type of an event': (text) => eventOf(text, {}),
  'subscription of an event': (text) => eventOf('customer.subscription.updated', { id: text, status: text }),
  'session of a payment': (text) =>
    eventOf('checkout.session.completed', { id: text, payment_status: 'paid', metadata: { [text]: text } }),
  'subscription of an invoice': (text) =>
    eventOf('invoice.paid', {
      id: 'in_1',
      subscription: text,
      parent: { subscription_details: { subscription: text } },
    }),
};
/** Signed as the provider does: what is not is refused before anybody reads it. */
const signed = (text: string): Partial<HostileRequest> => ({
  body: Buffer.from(text),
  headers: { 'content-type': 'application/json', 'stripe-signature': signatureOf(text) },
});

/** @returns undefined where no text may be */
function capOf(schemas: readonly JsonSchema[]): number | undefined {
  const textual = schemas.filter(({ type, properties, items }) => type === 'string' || !(type ?? properties ?? items));
  if (textual.length === 0) return undefined;
  const said = textual.flatMap(({ maxLength }) => maxLength ?? []);
  return Math.min(MAX_BODY, said.length > 0 ? Math.max(...said) : MAX_BODY);
}

function renamed(parts: RequestParts): RequestParts {
  if (parts.body === undefined || parts.body instanceof FormData) return parts;
  made += 1;
  return { ...parts, body: JSON.parse(JSON.stringify(parts.body).replaceAll(MADE, `${MADE}-${made}`)) };
}

/** Never cut within an escape. */
function escapedTo(length: number, text: string): string {
  const escaped = encodeURIComponent(text.toWellFormed());
  return escaped.length <= length ? escaped : escaped.slice(0, length).replace(/(%[0-9A-F]{0,2})*$/, '') || '%20';
}

export interface TextOptions {
  /** Of the texts, how many are tried at each place: other ones at each. */
  textsAPlace: number;
  /** Which of them come first. */
  seed: number;
  /** Of every text, also where fewer characters are taken: what refuses a text for its length may have read it before. */
  length: number;
  /** And once more as long as the place takes. */
  toTheCap?: boolean;
}

/** @param parts a request that is right */
export const textRequests = (
  endpoint: Endpoint,
  parts: RequestParts,
  { textsAPlace, seed, length, toTheCap = false }: TextOptions,
): HostileRequest[] =>
  textPlaces(endpoint, parts).flatMap((place, nth) => {
    const lengths = new Set([Math.min(length, place.most), toTheCap ? place.cap : Math.min(length, place.cap)]);
    return inTurn(HOSTILE_TEXTS, textsAPlace, seed + nth).flatMap(({ name, make }) =>
      [...lengths].map((each) => place.request(make(each), name)),
    );
  });
