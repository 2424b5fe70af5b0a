/** JSON lines on stdout, pretty on a terminal. Anything that may carry a credential is redacted by name. */
import { pino, type Logger } from 'pino';

export type Log = Logger;

const SECRET_PATHS = [
  'req.headers.authorization',
  'req.headers.cookie',
  'req.headers["x-service-session"]',
  'req.headers["x-service-admin"]',
  'req.headers["x-operator-token"]',
  'req.headers["x-service-otp-code"]',
];

export const createLog = ({ level = 'info', pretty = process.stdout.isTTY }: { level?: string; pretty?: boolean }) =>
  pino({
    level,
    redact: { paths: SECRET_PATHS, censor: '***' },
    ...(pretty
      ? { transport: { target: 'pino-pretty', options: { translateTime: 'HH:MM:ss', ignore: 'pid,hostname' } } }
      : {}),
  });
