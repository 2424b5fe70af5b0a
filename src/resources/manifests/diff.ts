/**
 * What differs between two manifests, by what it means: steps and phases are followed by their names and not by their
 * places, so that one which is put in between is one change.
 */
import { canonical } from '../../platform/core/json.ts';
import { fieldsOf, isRecord } from '../../platform/core/record.ts';
import type { FieldChange } from './model.ts';

/** An item of a list is known by the first of these that all of them have. */
const NAMES = ['slug', 'step_slug'] as const;

/** @returns each field that differs, in the order of the fields after, then those that are gone */
export function differences(before: unknown, after: unknown, path = ''): FieldChange[] {
  if (isSame(before, after)) return [];
  if (isRecord(before) && isRecord(after)) return ofFields(before, after, path);
  if (Array.isArray(before) && Array.isArray(after)) {
    const name = NAMES.find((one) => isNamed(before, one) && isNamed(after, one));
    if (name) return ofItems(byName(before, name), byName(after, name), path);
  }
  return [
    {
      path,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    },
  ];
}

const within = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

function ofFields(before: object, after: object, path: string): FieldChange[] {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  return [...new Set([...Object.keys(now), ...Object.keys(old)])].flatMap((name) =>
    differences(old[name], now[name], within(path, name)),
  );
}

function ofItems(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>, path: string) {
  const changes = [...new Set([...after.keys(), ...before.keys()])].flatMap((name) =>
    differences(before.get(name), after.get(name), within(path, name)),
  );
  const [old, now] = [
    [...before.keys()].filter((name) => after.has(name)),
    [...after.keys()].filter((name) => before.has(name)),
  ];
  return isSame(old, now) ? changes : [...changes, { path: within(path, '(order)'), before: old, after: now }];
}

const isNamed = (list: readonly unknown[], name: string): boolean =>
  new Set(list.map((item) => fieldsOf(item)[name]).filter((one) => typeof one === 'string')).size === list.length;

const byName = (list: readonly unknown[], name: string): Map<string, unknown> =>
  new Map(list.map((item) => [String(fieldsOf(item)[name]), item]));

const isSame = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);
