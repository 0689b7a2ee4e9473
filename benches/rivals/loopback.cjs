// loopback.cjs - keeps what it is preloaded into on 127.0.0.1: the gateway listens everywhere otherwise.
const net = require("node:net");
const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function (first, ...rest) {
  if (typeof first === "number" || typeof first === "string")
    return listen.call(this, { port: Number(first), host: "127.0.0.1" }, ...rest.filter((r) => typeof r === "function"));
  if (first && typeof first === "object" && "port" in first)
    return listen.call(this, { ...first, host: "127.0.0.1" }, ...rest);
  return listen.call(this, first, ...rest);
};
