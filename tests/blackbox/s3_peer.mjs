// s3_peer.mjs - an S3 that believes nothing: it makes every signature again with Amazon's own library, and holds every body
// against the digests that came with it.  Objects are in memory.  What goes wrong with it is chosen by the test.
import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";

const load = createRequire(new URL("s3/package.json", import.meta.url));
const { SignatureV4 } = load("@smithy/signature-v4");
const { Sha256 } = load("@aws-crypto/sha256-js");

const REGION = "eu-central-1", SKEW_MS = 15 * 60 * 1000;
export const KEYS = { accessKeyId: "AKIDLODGETESTS", secretAccessKey: "a secret/with+signs=" };

const sha256 = (bytes, form = "hex") => createHash("sha256").update(bytes).digest(form);
const encode = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
const xml = (text) => text.replace(/[<>&"']/g, (c) => `&#${c.charCodeAt(0)};`);
const momentOf = (text) => new Date(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));

class Refusal extends Error {
  constructor(status, code) {
    super(code);
    this.status = status;
  }
}

/** The part of the request that is signed, as Amazon's library wants it; the path is encoded anew, so that only one way to write it is right. */
function signedPart(request, url, names) {
  const query = {};
  for (const [name, value] of url.searchParams) if (name !== "X-Amz-Signature") query[name] = value;
  const headers = {};
  for (const name of names) headers[name] = request.headers[name] ?? "";
  return { method: request.method, protocol: "http:", hostname: url.hostname, path: decodeURIComponent(url.pathname).split("/").map(encode).join("/"), query, headers };
}

async function admit(request, url, peer) {
  const signer = new SignatureV4({ service: "s3", region: peer.region, credentials: peer.keys, sha256: Sha256, uriEscapePath: false, applyChecksum: false });
  const presigned = url.searchParams.get("X-Amz-Signature");
  const authorization = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(request.headers.authorization ?? "");
  if (!presigned && !authorization) throw new Refusal(403, "AccessDenied");
  const date = momentOf(presigned ? url.searchParams.get("X-Amz-Date") : request.headers["x-amz-date"]), now = Date.now() + peer.ahead;
  if (presigned) {
    const expires = Number(url.searchParams.get("X-Amz-Expires"));
    if (now > date.getTime() + expires * 1000) throw new Refusal(403, "AccessDenied");
    const part = signedPart(request, url, url.searchParams.get("X-Amz-SignedHeaders").split(";"));
    for (const name of Object.keys(part.query)) if (name.startsWith("X-Amz-")) delete part.query[name];
    const again = await signer.presign(part, { expiresIn: expires, signingDate: date });
    if (again.query["X-Amz-Signature"] !== presigned) throw new Refusal(403, "SignatureDoesNotMatch");
    return;
  }
  if (Math.abs(date.getTime() - now) > SKEW_MS) throw new Refusal(403, "RequestTimeTooSkewed");
  const names = authorization[2].split(";");
  for (const name of Object.keys(request.headers)) if (name.startsWith("x-amz-") && !names.includes(name)) throw new Refusal(403, "AccessDenied");
  if (!names.includes("host") || !request.headers["x-amz-content-sha256"]) throw new Refusal(400, "InvalidRequest");
  const again = await signer.sign(signedPart(request, url, names), { signingDate: date, signableHeaders: new Set(names), unsignableHeaders: new Set() });
  if (!again.headers.authorization.endsWith(authorization[3])) throw new Refusal(403, "SignatureDoesNotMatch");
}

function checkBody(request, body) {
  const digest = request.headers["x-amz-content-sha256"];
  if (digest && digest !== "UNSIGNED-PAYLOAD" && digest !== sha256(body)) throw new Refusal(400, "XAmzContentSHA256Mismatch");
  const sum = request.headers["x-amz-checksum-sha256"];
  if (sum && sum !== sha256(body, "base64")) throw new Refusal(400, "BadDigest");
}

function listed(peer, url) {
  const prefix = url.searchParams.get("prefix") ?? "", most = Math.min(Number(url.searchParams.get("max-keys") ?? 1000), peer.page), after = url.searchParams.get("continuation-token") ?? "";
  const keys = [...peer.objects.keys()].filter((k) => k.startsWith(prefix) && k > Buffer.from(after, "base64").toString()).sort(), shown = keys.slice(0, most), more = keys.length > shown.length;
  const form = url.searchParams.get("encoding-type") === "url" ? encode : xml;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${peer.bucket}</Name><Prefix>${form(prefix)}</Prefix><KeyCount>${shown.length}</KeyCount><MaxKeys>${most}</MaxKeys>${form === encode ? "<EncodingType>url</EncodingType>" : ""}<IsTruncated>${more}</IsTruncated>${
    more ? `<NextContinuationToken>${Buffer.from(shown.at(-1)).toString("base64")}</NextContinuationToken>` : ""}${
    shown.map((k) => `<Contents><Key>${form(k)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>&quot;x&quot;</ETag><Size>${peer.objects.get(k).bytes.length}</Size><StorageClass>STANDARD</StorageClass></Contents>`).join("")}</ListBucketResult>`;
}

function complete(peer, key, id, body) {
  const upload = peer.uploads.get(id);
  if (!upload || upload.key !== key) throw new Refusal(404, "NoSuchUpload");
  const wanted = [...body.toString().matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part]) => [Number(/<PartNumber>(\d+)</.exec(part)[1]), /<ETag>(?:&quot;|")?(.*?)(?:&quot;|")?<\/ETag>/.exec(part)[1], /<ChecksumSHA256>(.*?)</.exec(part)?.[1]]);
  const parts = wanted.map(([number, etag, sum], i) => {
    const part = upload.parts.get(number);
    if (!part || part.etag !== etag || number !== i + 1 || (sum && sum !== sha256(part.bytes, "base64"))) throw new Refusal(400, "InvalidPart");
    if (i < wanted.length - 1 && part.bytes.length < peer.partMin) throw new Refusal(400, "EntityTooSmall");
    return part.bytes;
  });
  peer.uploads.delete(id);
  peer.objects.set(key, { bytes: Buffer.concat(parts), type: upload.type, parts: parts.length });
  return `<?xml version="1.0"?><CompleteMultipartUploadResult><ETag>&quot;whole-${parts.length}&quot;</ETag></CompleteMultipartUploadResult>`;
}

function sendObject(request, response, object, peer) {
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? ""), from = range ? Number(range[1]) : 0, to = range && range[2] ? Math.min(Number(range[2]), object.bytes.length - 1) : object.bytes.length - 1;
  if (range && from >= object.bytes.length) throw new Refusal(416, "InvalidRange");
  const bytes = object.bytes.subarray(from, to + 1);
  response.writeHead(range ? 206 : 200, { "content-type": object.type ?? "binary/octet-stream", "content-length": bytes.length, etag: '"x"', ...(range && { "content-range": `bytes ${from}-${to}/${object.bytes.length}` }) });
  if (request.method === "HEAD") return response.end();
  if (peer.fault !== "cut" && peer.fault !== "stall") return response.end(bytes);
  response.write(bytes.subarray(0, bytes.length / 2));
  if (peer.fault === "stall") return (peer.goOn = () => response.end(bytes.subarray(bytes.length / 2)));
  setTimeout(() => response.destroy(), 50);
}

async function answer(peer, request, response, body) {
  const url = new URL(request.url, `http://${request.headers.host}`);
  await admit(request, url, peer);
  checkBody(request, body);
  peer.signed.push({ method: request.method, url: url.href, headers: request.headers });
  const inPath = url.hostname === peer.host, path = decodeURIComponent(url.pathname).slice(1), bucket = inPath ? path.split("/")[0] : url.hostname.split(".")[0], key = inPath ? path.slice(bucket.length + 1) : path;
  if (bucket !== peer.bucket) throw new Refusal(404, "NoSuchBucket");
  const upload = url.searchParams.get("uploadId"), say = (text) => response.writeHead(200, { "content-type": "application/xml" }).end(text);
  peer.asked.push(`${request.method} ${key}${upload ? " part" : ""}`);
  if (!key && request.method === "GET") return say(listed(peer, url));
  if (request.method === "POST" && url.searchParams.has("uploads")) {
    const id = randomUUID();
    peer.uploads.set(id, { key, type: request.headers["content-type"], parts: new Map() });
    return say(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
  }
  if (request.method === "POST" && upload) return say(complete(peer, key, upload, body));
  if (request.method === "PUT" && upload) {
    const etag = sha256(body).slice(0, 32);
    if (!peer.uploads.has(upload)) throw new Refusal(404, "NoSuchUpload");
    peer.uploads.get(upload).parts.set(Number(url.searchParams.get("partNumber")), { bytes: body, etag });
    return response.writeHead(200, { etag: `"${etag}"` }).end();
  }
  if (request.method === "DELETE") {
    if (upload) peer.uploads.delete(upload);
    else peer.objects.delete(key);
    return response.writeHead(204).end();
  }
  if (request.method === "PUT") {
    peer.objects.set(key, { bytes: body, type: request.headers["content-type"] });
    return response.writeHead(200, { etag: '"x"' }).end();
  }
  const object = peer.objects.get(key);
  if (!object) throw new Refusal(404, "NoSuchKey");
  sendObject(request, response, object, peer);
}

/** fault: null, "hang", "cut", "stall" (the second half comes with goOn()), or a status and a code such as [503, "SlowDown"], which the next requests meet. */
export function s3Peer(t, { bucket = "lodge-tests", keys = KEYS, region = REGION } = {}) {
  const peer = { bucket, keys, region, host: "127.0.0.1", objects: new Map(), uploads: new Map(), asked: [], signed: [], fault: null, ahead: 0, page: 1000, partMin: 5 << 20 };
  const server = createServer((request, response) => {
    const pieces = [];
    response.setHeader("date", new Date(Date.now() + peer.ahead).toUTCString());
    request.on("data", (piece) => pieces.push(piece)).on("end", () => {
      if (peer.fault === "hang") return;
      const fault = Array.isArray(peer.fault) ? Promise.reject(new Refusal(...peer.fault)) : answer(peer, request, response, Buffer.concat(pieces));
      fault.catch((err) => {
        if (!(err instanceof Refusal)) console.error(err);
        response.writeHead(err.status ?? 500, { "content-type": "application/xml" }).end(request.method === "HEAD" ? undefined : `<?xml version="1.0"?><Error><Code>${xml(err.message)}</Code><Message>no</Message></Error>`);
      });
    });
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => {
    peer.port = server.address().port;
    peer.url = `http://127.0.0.1:${peer.port}`;
    t.onEnd(() => new Promise((done) => (server.closeAllConnections(), server.close(done))));
    resolve(peer);
  }));
}
