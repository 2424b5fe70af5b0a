/** Turns JSON values that agents and actions make into files, with the extension that programs open them by. */
import { parseJson } from './json.ts';
import { fieldsOf } from './record.ts';

export interface Openable {
  text: string;
  extension: 'html' | 'svg' | 'json' | 'md';
}

/** A rendered file, an article and a drawing are taken out of their wrapping; other values stay what they are. */
export function openable(content: unknown): Openable {
  if (typeof content === 'string') return { text: content, extension: extensionOf(content) };
  const { content: inner, svg, ...names } = fieldsOf(content);
  const isWrapping = Object.keys(names).every((name) => NAMES.has(name));
  if (isWrapping && typeof inner === 'string' && svg === undefined) return openable(inner);
  if (isWrapping && typeof svg === 'string' && inner === undefined && extensionOf(svg) === 'svg') return openable(svg);
  return { text: `${JSON.stringify(content, null, 2)}\n`, extension: 'json' };
}

export const CONTENT_TYPES: Readonly<Record<Openable['extension'], string>> = {
  html: 'text/html; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json',
  md: 'text/markdown; charset=utf-8',
};

/** These fields only name the one part that is the work. */
const NAMES = new Set(['filename', 'content_type', 'title', 'alt']);

function extensionOf(text: string): Openable['extension'] {
  const start = text
    .trimStart()
    .slice(0, 200)
    .toLowerCase()
    .replace(/^<\?xml[^>]*>\s*/, '');
  if (start.startsWith('<svg')) return 'svg';
  if (/^(<!doctype html|<html)/.test(start)) return 'html';
  return /^[[{]/.test(start) && isJson(text) ? 'json' : 'md';
}

function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}
