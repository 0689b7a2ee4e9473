"""second.py - botocore, for s3.test.mjs: a task as JSON comes in, and what came of it goes out."""
import json
import re
import sys

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.session import get_session


def objects(task):
    """What a client does with an object, and what is left of it."""
    client = get_session().create_client(
        "s3", region_name=task["region"], endpoint_url=task["url"],
        aws_access_key_id=task["keys"]["accessKeyId"], aws_secret_access_key=task["keys"]["secretAccessKey"],
        config=Config(signature_version="s3v4", s3={"addressing_style": "path"}))
    at = {"Bucket": task["bucket"], "Key": task["key"]}
    client.put_object(Body=b"hello", **at)
    did = {"range": client.get_object(Range="bytes=1-3", **at)["Body"].read().decode(),
           "length": client.head_object(**at)["ContentLength"],
           "listed": [o["Key"] for o in client.list_objects_v2(Bucket=task["bucket"], Prefix="a b")["Contents"]]}
    upload = client.create_multipart_upload(**at)["UploadId"]
    parts = [{"PartNumber": n, "ETag": client.upload_part(UploadId=upload, PartNumber=n, Body=body, **at)["ETag"]}
             for n, body in ((1, b"one"), (2, b"two"))]
    client.complete_multipart_upload(UploadId=upload, MultipartUpload={"Parts": parts}, **at)
    did["parts"] = client.get_object(**at)["Body"].read().decode()
    client.delete_object(**at)
    did["left"] = client.list_objects_v2(Bucket=task["bucket"]).get("KeyCount")
    return did


def sign(task):
    """The signatures that botocore makes of requests that others have signed."""
    made = []
    for one in task["requests"]:
        auth = S3SigV4Auth(Credentials(task["keys"]["accessKeyId"], task["keys"]["secretAccessKey"]), "s3", task["region"])
        names = re.search(r"SignedHeaders=([^,]+)", one["headers"]["authorization"]).group(1).split(";")
        request = AWSRequest(one["method"], one["url"], {name: one["headers"][name] for name in names})
        request.context["timestamp"] = one["headers"]["x-amz-date"]
        made.append(auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request))
    return made


chosen = json.load(sys.stdin)
json.dump({"objects": objects, "sign": sign}[chosen["do"]](chosen), sys.stdout, ensure_ascii=False)
