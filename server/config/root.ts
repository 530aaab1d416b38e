/** The folder of package.json: two levels up from here, and from every file of the built server in `dist/server/`. */
export const root = new URL('../../', import.meta.url);
