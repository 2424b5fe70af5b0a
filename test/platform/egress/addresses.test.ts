import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { itemAt } from '../../../src/platform/core/present.ts';
import { ForbiddenAddressError, forbiddenAddress, guardLookup } from '../../../src/platform/egress/addresses.ts';
import { attempts, tried } from '../../support/runner/sizes.ts';

const byte = fc.integer({ min: 0, max: 255 });
const insideIpv4 = fc.oneof(
  fc.tuple(fc.constantFrom(0, 10, 127, 224, 239, 240, 255), byte, byte, byte),
  fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
  fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
  fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte, byte),
  fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), byte, byte),
);

// Guards: an internal IPv4 address is refused in every IPv6 form that a router may translate back.
test('refuses an inside address however it is wrapped', () => {
  fc.assert(
    fc.property(insideIpv4, ([a, b, c, d]) => {
      const dotted = `${a}.${b}.${c}.${d}`;
      const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
      for (const form of [
        dotted,
        `::${hex}`,
        `::ffff:${hex}`,
        `::ffff:0:${hex}`,
        `64:ff9b::${hex}`,
        `64:ff9b:1::${hex}`,
        `2002:${hex}::1`,
        `2001:0:${hex}::1`,
      ]) {
        expect([form, forbiddenAddress(form)]).toEqual([form, expect.any(String)]);
        tried('addresses inside refused');
      }
    }),
    attempts(100, 2_000),
  );
});

// Guards: no address outside of 2000::/3 counts as public, assigned or not.
test('refuses IPv6 that is not global', () => {
  const group = fc.integer({ min: 0, max: 0xffff });
  fc.assert(
    fc.property(fc.tuple(group, group, group, group), ([first, ...rest]) => {
      fc.pre(first >> 13 !== 1);
      expect(forbiddenAddress(`${[first, ...rest].map((n) => n.toString(16)).join(':')}:1:1:1:1`)).toBeDefined();
    }),
  );
  expect(forbiddenAddress('2606:4700:4700::1111')).toBeUndefined();
  expect(forbiddenAddress('1.1.1.1')).toBeUndefined();
  expect(forbiddenAddress('no address')).toBeDefined();
});

// Guards against: DNS rebinding. The socket gets the very address that was checked, and the resolver is asked once for
// each connection.
test('hands on only what it has checked', async () => {
  const answers = ['8.8.8.8', '127.0.0.1'];
  let asked = 0;
  const rebinding: LookupFunction = (_, options, callback) => {
    expect(options.all).toBe(true);
    callback(null, [{ address: itemAt(answers, asked++), family: 4 }]);
  };
  const connectTo = promisify((callback: (error: Error | null, address: unknown) => void) =>
    guardLookup(rebinding)('rebind.com', { all: false }, callback),
  );
  await expect(connectTo()).resolves.toBe('8.8.8.8');
  expect(asked).toBe(1);
  await expect(connectTo()).rejects.toThrow(ForbiddenAddressError);
});

// Guards: a failure of the resolver is not mistaken for a refusal, and an empty answer is no permission.
test('passes failures on', async () => {
  const resolve = (lookup: LookupFunction) =>
    new Promise((answer, fail) =>
      guardLookup(lookup)('a.com', {}, (error, address) => (error ? fail(error) : answer(address))),
    );
  const missing = Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
  await expect(resolve((_, __, callback) => callback(missing, '', 0))).rejects.toBe(missing);
  await expect(resolve((_, __, callback) => callback(null, []))).rejects.toThrow(ForbiddenAddressError);
});
