/** Where people talk. */
import { ask, bearer, healthByWords, mcpServer, secret, token, type Integration } from '../provider.ts';

const CATEGORY = 'messaging';
const botToken = token('bot_token', 'Bot token');

export const slack: Integration = {
  slug: 'slack',
  name: 'Slack',
  category: CATEGORY,
  description: 'Channels and messages of a Slack workspace.',
  baseUrl: 'https://slack.com/api',
  hosts: ['files.slack.com'],
  slots: [botToken, secret('app.signing_secret', 'Signing secret of the app'), mcpServer],
  extras: ['mcp'],
  // The provider answers 200 to everything and says in the body what it means.
  check: ask(
    ({ token }) => ({ path: '/auth.test', method: 'POST', headers: bearer(token) }),
    healthByWords({
      valid: /"ok":\s*true/,
      invalid: /"(invalid_auth|not_authed|account_inactive|token_(revoked|expired))"/,
      rateLimited: /"ratelimited"/,
    }),
  ),
};

export const discord: Integration = {
  slug: 'discord',
  name: 'Discord',
  category: CATEGORY,
  description: 'Channels and messages of Discord servers.',
  baseUrl: 'https://discord.com/api/v10',
  slots: [botToken],
  check: ask(({ token }) => ({ path: '/users/@me', headers: { authorization: `Bot ${token}` } })),
};

export const telegram: Integration = {
  slug: 'telegram',
  name: 'Telegram',
  category: CATEGORY,
  description: 'Chats of a Telegram bot.',
  baseUrl: 'https://api.telegram.org',
  slots: [botToken],
  // The token is a part of the address, and one that is not even shaped like a token makes an unknown address.
  check: ask(
    ({ token }) => ({ path: `/bot${encodeURIComponent(token).replace('%3A', ':')}/getMe` }),
    healthByWords({ invalid: /"error_code":\s*(401|404)/ }),
  ),
};

export const whatsapp: Integration = {
  slug: 'whatsapp',
  name: 'WhatsApp Business',
  category: CATEGORY,
  description: 'Messages of a WhatsApp Business number, through the Cloud API.',
  baseUrl: 'https://graph.facebook.com/v23.0',
  slots: [token('access_token', 'Access token'), secret('phone.number_id', 'Id of the phone number')],
  check: ask(
    ({ token }) => ({ path: '/me?fields=id', headers: bearer(token) }),
    healthByWords({ invalid: /"code":\s*190\b/, rateLimited: /"code":\s*(4|80007)\b/ }),
  ),
};
