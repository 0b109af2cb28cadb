// `npm run flood -- [--seconds N] [--kind insert|reliable|mqtt] [--clients N] [--rate N]`: more than a service is used to, for minutes. Afterwards
// all that was acknowledged must be there with its effects, and the service must answer like before; meanwhile its memory must not grow.
//   insert    batches of instances, each of which a rule answers with several inserts: far more than the rules can follow
//   reliable  messages on a reliable topic whose rule never acknowledges, so that each comes again and again
//   mqtt      messages of level 1 by a real mosquitto, at a steady rate (10,000 a second), each of which runs a rule
import { parseArgs } from 'node:util';
import { floodByMqtt } from './mqtt.ts';
import { floodByRequests } from './requests.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    clients: { type: 'string', default: '64' },
    rate: { type: 'string', default: '10000' },
    kind: { type: 'string', default: 'insert' },
  },
});
const [seconds, clients, rate] = [Number(values.seconds), Number(values.clients), Number(values.rate)];
if (!(seconds > 0 && clients > 0 && rate > 0)) throw new Error('--seconds, --clients and --rate are numbers above 0');
const { kind } = values;
if (kind !== 'insert' && kind !== 'reliable' && kind !== 'mqtt') throw new Error('--kind is insert, reliable or mqtt');
const wrong = kind === 'mqtt' ? await floodByMqtt({ seconds, rate }) : await floodByRequests({ kind, seconds, clients });
for (const line of [...new Set(wrong)].slice(0, 20)) console.log(`wrong: ${line}`);
console.log(wrong.length === 0 ? 'nothing lost, nothing doubled, memory flat' : `${wrong.length} wrong`);
process.exitCode = wrong.length === 0 ? 0 : 1;
