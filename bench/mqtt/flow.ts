// The flow of Node-RED that the benchmark compares with: MQTT in, a function, MQTT out, for each level.

export function mqttFlow(port: number): object[] {
  const broker = {
    id: 'broker',
    type: 'mqtt-broker',
    broker: '127.0.0.1',
    port: String(port),
    autoConnect: true,
    protocolVersion: '4',
    keepalive: '60',
    cleansession: true,
  };
  const flow = (qos: 0 | 1): object[] => [
    {
      id: `in${qos}`,
      type: 'mqtt in',
      z: 'tab',
      topic: `node-red/${qos}/in`,
      qos: String(qos),
      datatype: 'json',
      broker: 'broker',
      wires: [[`f${qos}`]],
    },
    {
      id: `f${qos}`,
      type: 'function',
      z: 'tab',
      func: 'msg.payload = { n: msg.payload.n, at: msg.payload.at }; delete msg.topic; return msg;',
      outputs: 1,
      wires: [[`out${qos}`]],
    },
    {
      id: `out${qos}`,
      type: 'mqtt out',
      z: 'tab',
      topic: `node-red/${qos}/out`,
      qos: String(qos),
      retain: 'false',
      broker: 'broker',
      wires: [],
    },
  ];
  return [broker, ...flow(0), ...flow(1)];
}
