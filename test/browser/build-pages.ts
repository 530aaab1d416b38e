import { buildStalePages } from '#server/build-pages.ts';

// Before the tests, so that two portals starting at once do not both build.
await buildStalePages();
