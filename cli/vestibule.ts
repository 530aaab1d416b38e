#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Commands are short and start often: cached compiled code halves their time. The cache is in a place writable only by
// those who may change the code; without such a place there is none.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/vestibule'));

const { runProgram } = await import('./program.ts');
await runProgram();
