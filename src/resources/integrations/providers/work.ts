/** Documents, customers, payments and mail. */
import {
  ask,
  bearer,
  healthByWords,
  MAIL_PORT,
  mcpServer,
  secret,
  SERVER_HOST,
  SERVER_PORT,
  token,
  type Integration,
} from '../provider.ts';

export const notion: Integration = {
  slug: 'notion',
  name: 'Notion',
  category: 'documents',
  description: 'Pages and databases of a Notion workspace.',
  baseUrl: 'https://api.notion.com/v1',
  slots: [token('token', 'Integration token'), mcpServer],
  extras: ['mcp'],
  check: ask(({ token }) => ({ path: '/users/me', headers: { ...bearer(token), 'notion-version': '2022-06-28' } })),
};

export const googleDrive: Integration = {
  slug: 'google-drive',
  name: 'Google Drive',
  category: 'documents',
  description: 'Files and folders of Google Drive.',
  baseUrl: 'https://www.googleapis.com/drive/v3',
  hosts: ['docs.googleapis.com', 'sheets.googleapis.com', 'slides.googleapis.com'],
  slots: [
    { where: 'oauth_files', key: 'accounts', label: 'Accounts that are signed in', required: false },
    token('access_token', 'OAuth access token', { required: false }),
  ],
  check: ask(
    ({ token }) => ({ path: '/about?fields=kind', headers: bearer(token) }),
    healthByWords({ rateLimited: /[rR]ateLimitExceeded/ }),
  ),
};

export const hubspot: Integration = {
  slug: 'hubspot',
  name: 'HubSpot',
  category: 'sales',
  description: 'Contacts, companies and deals.',
  baseUrl: 'https://api.hubapi.com',
  slots: [token('access_token', 'Access token of a private app'), mcpServer],
  extras: ['mcp'],
  check: ask(({ token }) => ({ path: '/account-info/v3/details', headers: bearer(token) })),
};

export const stripe: Integration = {
  slug: 'stripe',
  name: 'Stripe',
  category: 'payments',
  description: 'Customers, invoices and payments.',
  baseUrl: 'https://api.stripe.com/v1',
  hosts: ['files.stripe.com'],
  slots: [
    token('secret_key', 'Secret or restricted key'),
    secret('webhook.secret', 'Signing secret of a webhook'),
    mcpServer,
  ],
  extras: ['mcp'],
  check: ask(({ token }) => ({ path: '/balance', headers: bearer(token) })),
};

export const smtp: Integration = {
  slug: 'smtp',
  name: 'Mail server',
  category: 'mail',
  description: 'Mail that is sent through a server of your own.',
  slots: [
    { ...secret(SERVER_HOST, 'Host name', { required: true }), format: 'host' },
    { ...secret(SERVER_PORT, 'Port; 587 if not set. 465: TLS from the start'), format: 'port' },
    secret('server.user', 'User name', { required: true }),
    token('password', 'Password'),
    secret('mail.from', 'Sender address'),
  ],
  async check(probe, { token: password, secrets }) {
    const { [SERVER_HOST]: host, [SERVER_PORT]: port = MAIL_PORT, 'server.user': user } = secrets;
    return host && user ? probe.smtp({ host, port: Number(port), user, password }) : undefined;
  },
};
