/** Reads ids that come in addresses. */
import { validate } from 'uuid';
import { found } from '../../platform/db/client.ts';

/** Takes a text that is no uuid for the id of nothing. @throws Problem not_found */
export const uuid = (text: string): string => found(validate(text) ? text : undefined);
