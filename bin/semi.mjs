import v8 from 'node:v8';
v8.setFlagsFromString(`--semi-space-growth-factor=4`);
v8.setFlagsFromString(`--min-semi-space-size=${process.env.SEMI}`);
v8.setFlagsFromString(`--max-semi-space-size=${process.env.SEMI}`);
process.argv[1] = new URL('./cascade.js', import.meta.url).pathname;
await import('./cascade.js');
