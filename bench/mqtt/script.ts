// The naive way of the benchmark, by hand: what comes on one topic goes out on another. `node script.js BROKER-PORT QOS`.
import mqtt from 'mqtt';

const [port, level] = process.argv.slice(2);
const qos = Number(level) as 0 | 1;
const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`);
client.on('message', (_topic, payload) => {
  const message = JSON.parse(payload.toString()) as { n: number; at: number };
  client.publish(`script/${qos}/out`, JSON.stringify({ n: message.n, at: message.at }), { qos });
});
await client.subscribeAsync(`script/${qos}/in`, { qos });
