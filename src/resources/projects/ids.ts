/** Ids as they come in addresses. */
import { validate } from 'uuid';
import { found } from '../../platform/db/client.ts';

/**
 * What is no uuid is the id of nothing.
 * @throws Problem not_found
 */
export const uuid = (text: string): string => found(validate(text) ? text : undefined);
