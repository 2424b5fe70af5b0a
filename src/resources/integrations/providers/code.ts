/** Where code and its work items live. */
import {
  address,
  ask,
  BASE_URL,
  bearer,
  healthByWords,
  healthOf,
  mcpServer,
  token,
  type Integration,
} from '../provider.ts';

const CATEGORY = 'code';

export const github: Integration = {
  slug: 'github',
  name: 'GitHub',
  category: CATEGORY,
  description: 'Repositories, issues and pull requests.',
  baseUrl: 'https://api.github.com',
  hosts: ['uploads.github.com'],
  slots: [token('token', 'Personal access token or installation token'), mcpServer],
  extras: ['mcp'],
  check: ask(
    ({ token }) => ({ path: '/user', headers: { ...bearer(token), accept: 'application/vnd.github+json' } }),
    // The provider limits rates with the status of a refusal.
    (reply) =>
      reply.status === 403 && (reply.headers.get('x-ratelimit-remaining') === '0' || reply.headers.has('retry-after'))
        ? 'rate_limited'
        : healthOf(reply),
  ),
};

export const gitlab: Integration = {
  slug: 'gitlab',
  name: 'GitLab',
  category: CATEGORY,
  description: 'Repositories, issues and merge requests, on gitlab.com or a server of your own.',
  baseUrl: 'https://gitlab.com/api/v4',
  slots: [
    token('token', 'Personal, project or group access token'),
    address(BASE_URL, 'Address of your own server: https://gitlab.example.com/api/v4'),
    mcpServer,
  ],
  extras: ['mcp'],
  check: ask(({ token }) => ({ path: '/user', headers: bearer(token) })),
};

export const linear: Integration = {
  slug: 'linear',
  name: 'Linear',
  category: CATEGORY,
  description: 'Issues, cycles and projects.',
  baseUrl: 'https://api.linear.app',
  slots: [token('api_key', 'API key or OAuth token'), mcpServer],
  extras: ['mcp'],
  check: ask(
    ({ token }) => ({
      path: '/graphql',
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        // The provider's own keys go as they are, tokens of OAuth applications as bearer.
        authorization: token.startsWith('lin_api_') ? token : `Bearer ${token}`,
      },
      body: JSON.stringify({ query: '{ viewer { id } }' }),
    }),
    healthByWords({ invalid: /AUTHENTICATION_ERROR/, rateLimited: /RATELIMITED/ }),
  ),
};
