// s3.test.mjs - the S3 of these tests is one to Amazon's own client too.
import { createRequire } from "node:module";
import { equal, test } from "./harness.mjs";
import { KEYS, s3Peer } from "./s3_peer.mjs";

const load = createRequire(new URL("s3/package.json", import.meta.url));
const { DeleteObjectCommand, GetObjectCommand, HeadObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } = load("@aws-sdk/client-s3");

test("the S3 that others are held against is one to Amazon's client", async (t) => {
  const peer = await s3Peer(t), client = new S3Client({ endpoint: peer.url, region: peer.region, credentials: KEYS, forcePathStyle: true, requestChecksumCalculation: "WHEN_REQUIRED" });
  const Bucket = peer.bucket, Key = "a b/ü=+(!)~.txt";
  await client.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.from("hello") }));
  equal(await (await client.send(new GetObjectCommand({ Bucket, Key, Range: "bytes=1-3" }))).Body.transformToString(), "ell", "a range");
  equal((await client.send(new HeadObjectCommand({ Bucket, Key }))).ContentLength, 5, "its length");
  equal((await client.send(new ListObjectsV2Command({ Bucket, Prefix: "a b" }))).Contents[0].Key, Key, "its key");
  await client.send(new DeleteObjectCommand({ Bucket, Key }));
  equal(peer.objects.size, 0, "gone");
});
