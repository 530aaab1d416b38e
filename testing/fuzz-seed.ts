import fc from 'fast-check';

/** Properties are tried with the same values in every run of the tests; `npm run fuzz` tries others. */
fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? 16) });
