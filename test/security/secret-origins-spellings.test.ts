/**
 * One origin has many spellings, and other origins look like it. A tool that names an integration calls the addresses of the
 * catalogue, however they are spelled, and nothing that only resembles them.
 */
import { describe, expect, test } from '@jest/globals';
import { createBaseAddresses } from '../../src/resources/integrations/addresses.ts';
import { integrations } from '../../src/resources/integrations/catalogue.ts';
import { originFault } from '../../src/resources/integrations/model.ts';
import { checkUrlTemplate, fillUrl, templateOrigin } from '../../src/resources/tools/custom/url-template.ts';

const addresses = createBaseAddresses({
  INTEGRATION_BASE_URLS: {},
  OPENAI_BASE_URL: undefined,
  ANTHROPIC_BASE_URL: undefined,
});

/** @returns whether a tool with this address may be saved, and then be called with arguments that try to leave it */
function mayCall(slug: string, url: string, own?: string): boolean {
  const origins = addresses.tokenOrigins(slug, own);
  const origin = templateOrigin(url);
  if (checkUrlTemplate(url) !== undefined || origin === undefined || originFault(slug, origins, origin)) return false;
  const filled = new URL(fillUrl(url, { a: '@elsewhere.example/', b: '//elsewhere.example' }));
  expect(filled.origin).toBe(origin);
  return originFault(slug, origins, filled.origin) === undefined;
}

describe('a token of the catalogue', () => {
  // Guards: an address of the integration is known in every spelling, and no argument leaves it.
  test.each([
    'https://api.github.com/repos',
    'HTTPS://API.GitHub.com/repos',
    'https://api.github.com:443/repos',
    'https://%61pi.github.com/repos',
    'https://uploads.github.com/repos/{a}',
    'https://api.github.com/{a}?b={b}',
    'https://api.github.com\\{a}',
    'https://api.github.com?b={b}',
  ])('goes to %s', (url) => expect(mayCall('github', url)).toBe(true));

  // Guards: an address that only resembles one of the integration, or has a place for arguments in it, gets no token.
  test.each([
    'http://api.github.com/repos',
    'https://api.github.com:8443/repos',
    // The name with a dot is resolved without the search list, but servers take it for another one.
    'https://api.github.com./repos',
    'https://api.github.com.elsewhere.example/repos',
    'https://api.github.com@elsewhere.example/repos',
    'https://user:key@api.github.com/repos',
    'https://api.github.com{a}/repos',
    'https://{a}.github.com/repos',
    'https://api.github.com:{a}/repos',
    'https://{a}/repos',
    'https://github.com/repos',
    'https://api\u3002github\u3002com.elsewhere.example/repos',
    'https://api.github.com\t.elsewhere.example/repos',
    'https:/api.github.com/repos',
    'https://slack.com/api',
    'ftp://api.github.com/repos',
  ])('does not go to %s', (url) => expect(mayCall('github', url)).toBe(false));

  // Guards: the server of the workspace takes the place of the provider, whose own addresses then get nothing.
  test('goes to the server that the workspace named, in the place of the provider', () => {
    const own = 'https://Git.Home.example:443/api/v4';
    expect(mayCall('gitlab', 'https://git.home.example/api/v4/projects', own)).toBe(true);
    expect(mayCall('gitlab', 'https://gitlab.com/api/v4/projects', own)).toBe(false);
    expect(mayCall('gitlab', 'https://git.home.example:8443/api/v4/projects', own)).toBe(false);
  });

  // Guards: so does the address that the operator set, and the further hosts of the provider are no exception.
  test('goes to the address that the operator set, in the place of the provider', () => {
    const { tokenOrigins } = createBaseAddresses({
      INTEGRATION_BASE_URLS: { github: 'https://proxy.example/github' },
      OPENAI_BASE_URL: undefined,
      ANTHROPIC_BASE_URL: undefined,
    });
    expect(tokenOrigins('github', undefined).origins).toEqual(['https://proxy.example']);
  });

  // Guards: an entry of the catalogue is a host, so that nobody adds a path or a port that would never match.
  test.each([...integrations.values()].map(({ slug, hosts = [] }) => ({ slug, hosts })))(
    'of $slug has whole hosts',
    ({ slug, hosts }) => {
      for (const host of hosts) {
        expect(new URL(`https://${host}`).host).toBe(host);
        expect(mayCall(slug, `https://${host}/x`)).toBe(true);
      }
    },
  );
});
