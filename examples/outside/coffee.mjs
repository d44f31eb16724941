// A skill in a program of its own, in JavaScript: `npm install ws`, then `node coffee.mjs [URL]`.
import WebSocket from "ws";

const url = process.argv[2] ?? "ws://127.0.0.1:8181/core";
const skill_id = "coffee.node";

function serve() {
  const bus = new WebSocket(url);
  const send = (type, data, context = {}) => bus.send(JSON.stringify({ type, data, context }));
  const register = () => {
    send("ovos.skill.loaded", { skill_id, completes: true });
    const samples = ["brew [me] {kind} coffee"];
    send("ovos.intent.register.template", { skill_id, intent_name: "brew", lang: "en-US", samples });
  };
  bus.on("open", register);
  bus.on("message", (frame) => {
    const { type, data = {}, context = {} } = JSON.parse(frame);
    if (type === "ovos.intents.ready") register(); // understanding was started again and knows nothing of us
    else if (type === "ovos.converse.ping") send("ovos.converse.pong", { skill_id, can_handle: false }, context);
    else if (type === `${skill_id}:brew`) {
      const utterance = `Here is your ${data.slots.kind} coffee.`;
      send("ovos.utterance.speak", { utterance, lang: data.lang }, context);
      send("hark.handler.done", { topic: type }, context);
    }
  });
  bus.on("error", () => {}); // "close" follows
  bus.on("close", () => setTimeout(serve, 1000));
}

serve();
