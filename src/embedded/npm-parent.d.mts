/** Calls once when npm, which ran this process, has gone; never where npm did not run it. */
export const whenNpmIsGone: (act: () => void) => void;
