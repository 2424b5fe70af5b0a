/**
 * Keys of page addresses. A page that a run opens for a person is answered at `/miniapps/<page id>_<key>`, and the key is
 * all that it takes. So texts never hold the key: models, stored texts, the search index, contexts and exports have
 * `/miniapps/<page id>`, which opens nothing. The key is added at the edge, to what leaves for somebody who may answer.
 *
 * Links that decide or sign in (`/act/`, `/outputs/confirm`, `/login/link`) are mailed and never written into a text by
 * the service. If a person or a tool brings one, it is masked.
 */
import { hmacSha256, safeEqual, secretsIn } from './crypto.ts';

interface PageRef {
  customerId: string;
  pageId: string;
}

// Models write addresses into JSON, HTML and query strings, where slashes are escaped.
/** A key may be cut off at its end. */
const KEYED = /(miniapps(?:\\*\/|%(?:25)*2F|&#x2F;|&#47;)[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})_[\w-]*/gi;
/** An address that is as long as a key, and names no page, may be one: it is masked, whatever made it. */
const KEY_ALONE = /(miniapps(?:\\*\/|%(?:25)*2F|&#x2F;|&#47;))[\w-]{37,}/gi;
const TOKEN =
  /(act(?:\\*\/|%(?:25)*2F|&#x2F;|&#47;)|(?:confirm|link)(?:\?|%(?:25)*3F)token(?:=|%(?:25)*3D))[\w-]{10,}\.(?:[\w-]{1,40}\.)?[\w-]{16,}/gi;
const KEYLESS = /(miniapps(?:\\*\/|%(?:25)*2F|&#x2F;|&#47;))([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?![\w-])/gi;
const PAGE_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const PAGE_TOKEN = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})_([\w-]{43})$/;

/** @returns the text without the keys in it: an address of a page names the page, and opens nothing */
export const withoutPageKeys = (text: string): string =>
  text.replace(KEYED, '$1').replace(KEY_ALONE, '$1***').replace(TOKEN, '$1***');

/** @returns a text of the same length with stars in the place of keys, for files, whose size is told before their bytes */
export const withPageKeysMasked = (text: string): string =>
  [KEYED, KEY_ALONE, TOKEN].reduce(
    (masked, pattern) => masked.replace(pattern, (all, path: string) => path.padEnd(all.length, '*')),
    text,
  );

/** @returns whether the last part of an address names a page without its key */
export const isPageId = (text: string): boolean => PAGE_ID.test(text);

/** @returns the page id and the key; undefined for a token of another form */
export const partsOfToken = (token: string): { pageId: string; key: string } | undefined => {
  const [, pageId, key] = PAGE_TOKEN.exec(token) ?? [];
  return pageId === undefined || key === undefined ? undefined : { pageId, key };
};

export interface PageKeys {
  /** @returns the last part of the page's working address */
  tokenOf(page: PageRef): string;
  isKeyOf(page: PageRef, key: string): boolean;
  /** @returns the text with working addresses of this workspace's pages; a page of another workspace stays closed */
  addTo(customerId: string, text: string): string;
  /** Does the same for every text in a value of JSON. */
  addIn<T>(customerId: string, value: T): T;
}

/** @param setting secrets separated by commas: the first signs, the older ones still verify */
export function createPageKeys(setting: string): PageKeys {
  const secrets = secretsIn(setting);
  // The workspace is part of the key: a text can name any page, and only its own workspace can open it.
  const keyOf = (secret: string, { customerId, pageId }: PageRef): string =>
    hmacSha256(secret, `page.${customerId}.${pageId}`, 'base64url');
  const tokenOf = (page: PageRef): string => `${page.pageId}_${keyOf(secrets[0], page)}`;

  const addTo = (customerId: string, text: string): string =>
    text.replace(KEYLESS, (_, path: string, id: string) => path + tokenOf({ customerId, pageId: id.toLowerCase() }));
  const addIn = (customerId: string, value: unknown): unknown => {
    if (typeof value === 'string') return addTo(customerId, value);
    if (Array.isArray(value)) return value.map((each) => addIn(customerId, each));
    if (typeof value !== 'object' || value === null) return value;
    if (Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, addIn(customerId, each)]));
  };
  return {
    tokenOf,
    isKeyOf: (page, key) => secrets.some((secret) => safeEqual(key, keyOf(secret, page))),
    addTo,
    addIn: addIn as PageKeys['addIn'],
  };
}
