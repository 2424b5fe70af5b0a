/** The tick that charges for managed infrastructure. */

/** The workflow's type, as the server knows it. */
export const METERING = 'metering';
