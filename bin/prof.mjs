import { Session } from 'node:inspector';
import { writeFileSync, mkdirSync } from 'node:fs';
const s = new Session(); s.connect(); s.post('Profiler.enable'); s.post('Profiler.setSamplingInterval', { interval: 500 });
// started by USR2, ended by the second
let on = false;
process.on('SIGUSR2', () => { if (!on) { on = true; s.post('Profiler.start'); } else { on = false; s.post('Profiler.stop', (e, { profile }) => { mkdirSync(process.env.PROF, { recursive: true }); writeFileSync(`${process.env.PROF}/main-${process.pid}.cpuprofile`, JSON.stringify(profile)); }); } });
process.argv[1] = new URL('./cascade.js', import.meta.url).pathname;
await import('./cascade.js');
