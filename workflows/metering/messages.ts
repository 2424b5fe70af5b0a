/** The tick that charges for managed infrastructure. */

/** The server knows the workflow by this type. */
export const METERING = 'metering';
