/** The version of what is installed here. */
import { createRequire } from 'node:module';
import { fieldsOf } from '../platform/core/record.ts';

const { version } = fieldsOf(createRequire(import.meta.url)('../../package.json'));
export const OWN_VERSION = String(version);
